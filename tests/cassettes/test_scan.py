from __future__ import annotations

import base64
import contextlib
import gzip
import json
import string
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes.codec import dump_cassette
from keepa_cli.cassettes.sanitize import sanitize
from keepa_cli.cassettes.scan import RULES, scan_bytes, scan_exchange, scan_paths
from keepa_cli.core.redact import REDACTED, Redactor
from tests.cassettes.canary import EMAIL, KEY, WEBHOOK, encodings, exchange, png

REPO = Path(__file__).parents[2]
REDACTOR = Redactor(KEY)
NONE = Redactor()
SHAPED = "b4n9x2k7" * 8
MIXED = "Ab3xK9Qz" * 8


def found(data: str | bytes, file: str = "a.json", redactor: Redactor = NONE) -> list[tuple[str, str]]:
    raw = data.encode() if isinstance(data, str) else data
    return [(f.rule, f.location) for f in scan_bytes(raw, file, redactor)]


def test_a_finding_names_file_place_rule_and_form_and_not_the_value() -> None:
    data = json.dumps({"products": [{"asin": "B1"}, {"note": f"x {KEY}"}]}, indent=1).encode()
    (finding,) = scan_bytes(data, "cassettes/a.json", REDACTOR)
    assert finding.as_dict() == {
        "file": "cassettes/a.json",
        "location": "$.products[1].note",
        "rule": "configured_key",
        "form": "raw",
    }
    assert KEY not in repr(finding)


@pytest.mark.parametrize("form", encodings())
def test_the_configured_key_is_found_in_every_form_of_file(form: str) -> None:
    written = encodings()[form](KEY)
    text = json.dumps({"a": "@@"}).encode().replace(b"@@", written)
    for data in (
        text,
        gzip.compress(text),
        b"\x00\x80" + zlib.compress(text) + b"\x81",
        b"a: !!binary |\n  " + b"\n  ".join(_lines(base64.b64encode(text))) + b"\n",
        b"a: !!binary |\n  " + b"\n  ".join(_lines(base64.b64encode(gzip.compress(text)))) + b"\nb: 1\n",
        b'a: "x ' + b"\\\n  ".join(_lines(written, 7) if b"\\" not in written else [written]) + b' y"\n',
        text.decode().encode("utf-16"),
        b"first line\nsecond " + written,
        png((b"zTXt", b"c\0\0" + zlib.compress(written))),
        b"".join(dump_cassette([exchange(body=b"\xff\xfe\x01" + written)])),
    ):
        rules = {f.rule for f in scan_bytes(data, "a.yaml", REDACTOR)}
        assert "configured_key" in rules, data[:80]


def _lines(data: bytes, width: int = 57) -> list[bytes]:
    return [data[i : i + width] for i in range(0, len(data), width)]


def test_places() -> None:
    assert found(f"one\ntwo {KEY}\n", "a.txt", REDACTOR) == [("configured_key", "line 2")]
    assert found(b"\x80\x00\x81" + KEY.encode(), "a.png", REDACTOR) == [("configured_key", "offset 3")]
    block = b"x: 1\na: !!binary |\n  " + base64.b64encode(b"\xff\x00" + gzip.compress(KEY.encode())) + b"\n"
    assert ("configured_key", "line 2 (binary) (compressed) offset 0") in found(block, "a.yaml", REDACTOR)
    assert found(f'{{"{KEY}": {{"a": "{KEY}"}}}}', "a.json", REDACTOR) == [
        ("configured_key", "$"),
        ("configured_key", f"$.{REDACTED}.a"),
    ]
    assert [f.file for f in scan_bytes(b"x", f"{KEY}.yaml", REDACTOR)] == [f"{REDACTED}.yaml"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f'{{"a": "{SHAPED}"}}', "key_shape"),
        (f"GET /product/{SHAPED}/x", "key_shape"),
        (f'{{"a": "x%3Dy%2F{SHAPED}"}}', "key_shape"),
        (f'{{"a": "{MIXED}"}}', "key_shape"),
        ("uri: https://api.keepa.com/product?key=abc&domain=1", "secret_parameter"),
        ("uri: https://api.keepa.com/product?domain=1&Token=abc", "secret_parameter"),
        ('{"u":"https:\\/\\/api.keepa.com\\/product?domain=1\\u0026apikey=abc"}', "secret_parameter"),
        ("next=https%3A%2F%2Fapi.keepa.com%2F%3Fkey%3Dabc", "secret_parameter"),
        ('{"a": [{"Api_Key": "abc"}]}', "secret_field"),
        ('{"\\u006bey": "abc"}', "secret_field"),
        ('body: "{\\"token\\":\\"abc\\"}"', "secret_field"),
        ("<key>abc</key>", "secret_field"),
        ("    headers:\n      Set-Cookie:\n      - sid=1; Path=/\n", "cookie_header"),
        ("      cookie: [sid=1]\n", "cookie_header"),
        ('{"headers": {"Cookie": ["sid=1"]}}', "cookie_header"),
        ('{"headers": [{"name": "Set-Cookie", "value": "sid=1"}]}', "cookie_header"),
        ("      Authorization:\n      - Basic abc\n", "credentials_header"),
        ('{"request": {"headers": {"X-Api-Key": "abc"}}}', "credentials_header"),
        (f'{{"a": "write to {EMAIL}"}}', "email"),
        ('{"a": "write to jane%40shop.example"}', "email"),
        ('{"a": "write to jane\\u0040shop.example"}', "email"),
        (f'{{"a": "{WEBHOOK}"}}', "webhook_url"),
        ('{"a": "https:\\/\\/hooks.slack.example\\/services\\/T1"}', "webhook_url"),
        ('{"webhookUrl": "https://a.example/x"}', "webhook_url"),
        ('{"vatID": "DE1"}', "personal_data"),
        ('{"address": ["Street 1", "DE"]}', "personal_data"),
    ],
)
def test_rules(text: str, rule: str) -> None:
    assert rule in {r for r, _ in found(text, "a.yaml")}
    assert rule in RULES
    packed = f"a: !!binary |\n  {base64.b64encode(b'{} ' + text.encode()).decode()}\n"
    if rule not in {"cookie_header", "credentials_header"}:
        assert rule in {r for r, _ in found(packed, "a.yaml")}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"sha256": "0a1b2c3d" * 8}),
        json.dumps({"sha256": "0A1B2C3D" * 8}),
        json.dumps({"title": string.ascii_letters + "abcdefghijkl"}),
        json.dumps({"data": "A1" * 40 + "+" + "b2Xy" * 16}),
        json.dumps({"details": json.dumps({"token": None, "email": "", "address": [], "vatID": REDACTED})}),
        '{"title": "Fortune Cookie: 50 pieces", "features": ["Cookie", "Authorization: none"], "tokensLeft": 5}',
        '{"key": null, "token": "[REDACTED]", "email": "", "address": [], "vatID": null, "webhook": false}',
        "uri: https://api.keepa.com/product?domain=1&token=%5BREDACTED%5D&monkey=1",
        '{"image": "photo@2x.png", "text": "100 @cosme, mail me @ home", "pin": "a@1.2"}',
        '{"link": "https://shop.example/fish-hooks/1", "see": "https://keepa.com/#!discuss/webhook"}',
        "uri: https://api.keepa.com/tracking?type=webhook",
        "logical_path,title,status\ncassettes/a.yaml,Key facts,promoted\n",
        "      Content-Type:\n      - application/json\n",
    ],
)
def test_what_is_harmless_is_not_found(text: str) -> None:
    assert found(text, "a.yaml") == []
    assert found(text, "a.json", REDACTOR) == []


def test_documents_may_show_examples() -> None:
    assert found("Send `?key=KEY` and never a Cookie:\nset-cookie: x\n", "guide.md") == []
    assert found(f"?key={SHAPED}", "guide.md") != []


def test_real_bodies_and_our_own_recordings_are_not_refused(shared_data: Path) -> None:
    for file in sorted(shared_data.glob("*.json")):
        body = file.read_bytes()
        clean, _ = sanitize(exchange(body=body), REDACTOR)
        assert scan_bytes(body, file.name, REDACTOR) == []
        assert scan_exchange(clean, file.name, REDACTOR) == []
        assert scan_bytes(b"".join(dump_cassette([clean])), "a.yaml", REDACTOR) == []


def test_the_files_of_this_repository_are_not_refused() -> None:
    folders = [REPO / name for name in ("cassettes", "evidence") if (REPO / name).is_dir()]
    assert scan_paths(folders, REDACTOR) == []


def test_paths_are_searched_recursively_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a.yaml").write_text(f"a: {KEY}\n", encoding="utf-8")
    (tmp_path / "outside.txt").write_text(KEY, encoding="utf-8")
    with contextlib.suppress(OSError):
        (tmp_path / "deep" / "link.yaml").symlink_to(tmp_path / "outside.txt")
    (finding,) = scan_paths([tmp_path / "deep"], REDACTOR)
    assert finding.file == str(tmp_path / "deep" / "er" / "a.yaml")
    assert len(scan_paths([tmp_path / "deep" / "er" / "a.yaml", tmp_path / "outside.txt"], REDACTOR)) == 2


def test_an_exchange_is_searched_in_all_its_parts() -> None:
    dirty = exchange(
        f"https://x/?u={KEY}",
        gzip.compress(f'{{"a":{{"b":"{KEY}"}}}}'.encode()),
        sent=f"a={KEY}".encode(),
        method=f"GET{KEY}",
        reason=KEY,
        asks={"Cookie": ["a=1"], KEY: ["1"]},
        X=[KEY],
        Content_Encoding=["gzip"],
    )
    places = {(f.location, f.rule) for f in scan_exchange(dirty, "a", REDACTOR)}
    assert places == {
        ("request.method offset 3", "configured_key"),
        ("request.url offset 13", "configured_key"),
        ("request.headers.Cookie", "cookie_header"),
        ("request.headers (a name) offset 0", "configured_key"),
        ("request.body offset 2", "configured_key"),
        ("response.reason offset 0", "configured_key"),
        ("response.headers.X offset 0", "configured_key"),
        ("response.body gzip $.a.b", "configured_key"),
    }


def test_a_bomb_is_reported_and_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    from keepa_cli.cassettes import content

    monkeypatch.setattr(content, "LIMIT", 1 << 20)
    assert found(gzip.compress(bytes(20 << 20)), "a.gz") == [("unreadable", "offset 0")]


def test_many_findings_are_bounded() -> None:
    data = json.dumps([KEY] * 5000).encode()
    assert len(scan_bytes(data, "a.json", REDACTOR)) == 200


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["a.yaml", "a.json", "a.md", ""]))
def test_no_input_raises(data: bytes, file: str) -> None:
    scan_bytes(data, file, REDACTOR)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.integers() | st.text(max_size=30), lambda x: st.lists(x) | st.dictionaries(st.text(), x), max_leaves=9
    )
)
def test_what_was_sanitized_is_accepted(value: Any) -> None:
    clean, _ = sanitize(exchange(body=json.dumps(value).encode()), REDACTOR)
    assert scan_exchange(clean, "a", REDACTOR) == []
    assert scan_bytes(b"".join(dump_cassette([clean])), "a.yaml", REDACTOR) == []


@pytest.mark.parametrize(
    "unit", ["!!binary |\n", " AAAA\n", '"key":', 'name="key"\n', "a@", "https://hook", "\\", "%25", "\n "]
)
def test_time_grows_with_the_length_only(unit: str) -> None:
    def seconds(size: int) -> float:
        data = (unit * (size // len(unit))).encode()
        start = time.process_time()
        scan_bytes(data, "a.yaml", REDACTOR)
        sanitize(exchange(body=data), REDACTOR)
        return time.process_time() - start

    assert seconds(40_000) < 8 * 4 * min(seconds(5_000) for _ in range(3)) + 0.1
