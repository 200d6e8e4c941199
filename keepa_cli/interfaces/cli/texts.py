"""The fixed words of output for people in each language; JSON output is always English."""

from __future__ import annotations

from collections.abc import Mapping

from keepa_cli.core.errors import ERRORS, Kind

EN: Mapping[str, str] = {
    "error": "Error",
    "kind": "kind",
    "next": "Next",
    "note": "Note",
    "request": "Request",
    "cost": "Cost: {amount}, at worst {worst}",
    "source": "Source: {where}{age}; {amount} charged.",
    "recorded": ", recorded {moment}",
    "tokens": "{count} tokens",
    "token": "1 token",
    "unknown": "an unknown number of tokens",
    "fixed": "fixed",
    "interrupted": "Interrupted; nothing is half-written.",
    "interrupted_live": "Interrupted while a live call was under way: tokens may have been spent.\n"
    "Next: kc tokens status --live",
}
ZH: Mapping[str, str] = {
    "error": "错误",
    "kind": "类别",
    "next": "下一步",
    "note": "注意",
    "request": "请求",
    "cost": "费用：{amount}，最多 {worst}",
    "source": "来源：{where}{age}；消耗 {amount}。",
    "recorded": "，录制于 {moment}",
    "tokens": "{count} 个 token",
    "token": "1 个 token",
    "unknown": "未知数量的 token",
    "fixed": "固定",
    "interrupted": "已中断；没有写到一半的文件。",
    "interrupted_live": "实时调用进行中被中断：可能已消耗 token。\n下一步：kc tokens status --live",
}
ZH_MEANINGS: Mapping[Kind, str] = {
    Kind.INVALID_ARGUMENTS: "参数缺失、格式错误、超出范围或互相矛盾；未发送任何请求。",
    Kind.UNKNOWN_COMMAND: "没有这个命令。",
    Kind.CONFIRMATION_REQUIRED: "该调用可能超过确认阈值或会修改上游数据；未发送任何请求。",
    Kind.BUDGET_EXCEEDED: "最坏情况下的费用超过给定的 token 上限；未发送任何请求。",
    Kind.AUTH_MISSING: "实时调用需要 API key，但没有配置。",
    Kind.AUTH_ERROR: "Keepa 拒绝了 API key：格式错误、未知、过期或未付费。",
    Kind.NOT_ENOUGH_TOKEN: "token 桶已空；没有扣费。",
    Kind.RATE_LIMITED: "服务器要求放慢速度；没有扣费。",
    Kind.API_ERROR: "Keepa 返回了错误。",
    Kind.REQUEST_REJECTED: "Keepa 拒绝了该请求；没有扣费。",
    Kind.UPSTREAM_UNAVAILABLE: "Keepa 或其网关故障（5xx），未注明扣费。",
    Kind.TIMEOUT: "没有按时得到回答；charged 说明是否可能已扣费。",
    Kind.TRANSPORT_ERROR: "无法连接服务器；未发送任何请求。",
    Kind.OUTCOME_UNKNOWN: "请求已发出，但回答丢失或无法读取：可能已扣费，绝不自动重试。",
    Kind.CONTRACT_ERROR: "回答缺少 Keepa 文档规定的结构；已保留脱敏后的原文。",
    Kind.CASSETTE_MISS: "没有录制可回答该请求；回放绝不会转为实时调用。",
    Kind.CASSETTE_INVALID: "磁带文件无法读取，或内容与名称、证据不符。",
    Kind.FIXTURE_NOT_FOUND: "没有这个名称的 fixture。",
    Kind.SECRET_DETECTED: "将要写入的内容疑似含有密钥或个人数据；没有写入。",
    Kind.LIVE_BLOCKED_IN_CI: "检测到 CI 环境，拒绝会消耗 token 的调用。",
    Kind.PROFILE_REQUIRES_FIXTURE_OR_DRY_RUN: "当前 profile 只允许此工具使用录制或 dry-run。",
    Kind.INACTIVE_TOOL: "当前 profile 不包含此工具。",
    Kind.MISSING_INPUTS: "无法解析调用所需的输入。",
    Kind.IO_ERROR: "无法读写文件或文件夹；原有内容完好。",
    Kind.CONFIG_ERROR: "配置文件或设置有误；文件未被改动。",
    Kind.INTERNAL_ERROR: "keepa-cli 自身的缺陷。",
}


class Texts:
    """The words of one language."""

    def __init__(self, language: str = "en") -> None:
        self.language = language
        self._words = ZH if language == "zh-CN" else EN
        self.colon = "：" if language == "zh-CN" else ": "

    def __call__(self, name: str, **values: object) -> str:
        return self._words[name].format(**values)

    def label(self, name: str) -> str:
        return self._words[name] + self.colon

    def tokens(self, amount: int | None) -> str:
        if amount is None:
            return self("unknown")
        return self("token") if amount == 1 else self("tokens", count=amount)

    def meaning(self, kind: str) -> str | None:
        """What an error kind means, where the message itself is in another language."""
        return ZH_MEANINGS[Kind(kind)] if self.language == "zh-CN" and Kind(kind) in ERRORS else None
