"""The places of the canary battery: requests, headers and bodies."""

from __future__ import annotations

import base64
import gzip
import json
import zlib

from tests.cassettes.canary import API, EMAIL, PHONE, WEBHOOK, Build, exchange, png


def _url(template: str) -> Build:
    return lambda form: exchange(url=template.replace("@@", form.decode()))


def _asks(name: str, template: str = "@@") -> Build:
    return lambda form: exchange(asks={name: [template.replace("@@", form.decode())]})


def _sent(template: str, media: str) -> Build:
    return lambda form: exchange(
        method="POST", sent=template.encode().replace(b"@@", form), asks={"Content-Type": [media]}
    )


def _answers(name: str, template: str = "@@", status: int = 200) -> Build:
    return lambda form: exchange(status=status, **{name: [template.replace("@@", form.decode())]})


def _body(template: str, media: str = "application/json", status: int = 200) -> Build:
    return lambda form: exchange(body=template.encode().replace(b"@@", form), status=status, Content_Type=[media])


def _coded(pack: object, *codings: str, media: str = "application/json") -> Build:
    def build(form: bytes) -> object:
        body = pack(b'{"error":{"message":"bad key %b"},"tokensLeft":1}' % form)
        return exchange(body=body, Content_Type=[media], **({"Content_Encoding": list(codings)} if codings else {}))

    return build


def requests() -> dict[str, Build]:
    named = {
        f"query {name}": _url(f"{API}/product?domain=1&{name}=@@&asin=B00AAAAAA1")
        for name in ("key", "Key", "KEY", "k%65y", "api_key", "apikey", "ApiKey", "token", "authorization", "k", "q")
    }
    urls = {
        "query first": _url(f"{API}/product?key=@@&domain=1"),
        "query twice": _url(f"{API}/product?key=@@&domain=1&key=@@"),
        "query after semicolon": _url(f"{API}/product?a=1;key=@@"),
        "query inside a nested URL": _url(f"{API}/x?next=https%3A%2F%2Fapi.keepa.com%2Fproduct%3Fkey%3D@@%26a%3D1"),
        "query as a name": _url(f"{API}/product?@@=1&domain=1"),
        "query without a value": _url(f"{API}/product?@@"),
        "query JSON": _url(f"{API}/query?selection=%7B%22key%22%3A%22@@%22%7D"),
        "path": _url(f"{API}/product/@@/x?domain=1"),
        "path alone": _url(f"{API}/@@"),
        "fragment": _url(f"{API}/product?domain=1#key=@@"),
        "host": _url("https://@@.example.test/product?domain=1"),
        "credentials": _url("https://user:@@@api.keepa.com/product?domain=1"),
        "relative URL": _url("/product?key=@@&domain=1"),
        "not a URL": _url("@@"),
        "method": lambda form: exchange(method=f"GET {form.decode()}"),
    }
    asked = {
        f"request header {name}": _asks(name)
        for name in (
            "Authorization", "authorization", "Cookie", "Referer", "X-Api-Key", "X-Custom", "User-Agent", "Accept",
            "Content-Type", "Origin", "Proxy-Authorization",
        )
    }  # fmt: skip
    auth = {
        "request header bearer": _asks("Authorization", "Bearer @@"),
        "request header basic": lambda form: exchange(
            asks={"Authorization": ["Basic " + base64.b64encode(form + b":").decode()]}
        ),
        "request header cookie pair": _asks("Cookie", "sid=1; session=@@; a=b"),
        "request header name": lambda form: exchange(asks={form.decode(): ["1"]}),
        "request header media type parameter": _asks("Content-Type", "application/json; boundary=@@"),
    }
    sent = {
        "sent JSON with charset": _sent('{"key":"@@","a":1}', "application/json; charset=utf-8"),
        "sent JSON, any value": _sent('{"note":"x @@ y"}', "application/json"),
        "sent JSON, nested": _sent('{"a":{"b":[{"apiKey":"@@"}]}}', "application/json"),
        "sent JSON list": _sent('[{"key":"@@"}]', "application/json"),
        "sent JSON list with the word": _sent('["key","@@"]', "application/json"),
        "sent JSON text": _sent('"@@"', "application/json"),
        "sent form": _sent("a=1&key=@@&b=2", "application/x-www-form-urlencoded"),
        "sent form, other name": _sent("a=1&k=@@", "application/x-www-form-urlencoded"),
        "sent multipart": _sent(
            '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\n@@\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
        ),
        "sent plain": _sent("my key is @@.", "text/plain"),
        "sent GraphQL": _sent('{"query":"{ p(key: \\"@@\\") { id } }"}', "application/json"),
        "sent gzip": lambda form: exchange(
            method="POST", sent=gzip.compress(b'{"key":"%b"}' % form), asks={"Content-Encoding": ["gzip"]}
        ),
    }
    return named | urls | asked | auth | sent


def headers() -> dict[str, Build]:
    plain = {
        f"answer header {name}": _answers(name)
        for name in (
            "Set_Cookie", "set_cookie", "X_Request_Url", "X_Debug", "Retry_After", "Date", "Server", "ETag", "Via",
            "WWW_Authenticate", "Content_Disposition", "Content_Length", "Content_Encoding",
        )
    }  # fmt: skip
    places = {
        "answer cookie pair": _answers("Set_Cookie", "session=@@; Path=/; HttpOnly"),
        "answer cookies": lambda form: exchange(Set_Cookie=["a=1", f"b={form.decode()}"]),
        "answer media type": _answers("Content_Type", "application/json; key=@@"),
        "answer header name": lambda form: exchange(**{form.decode(): ["1"]}),
        "answer reason": lambda form: exchange(status=403, reason=f"Bad key {form.decode()}"),
        "location query": _answers("Location", f"{API}/product?key=@@&domain=1", 302),
        "location lower case": _answers("location", f"{API}/product?Key=@@&domain=1", 302),
        "location renamed": _answers("Location", f"{API}/product?apikey=@@&domain=1", 302),
        "location other name": _answers("Location", f"{API}/product?k=@@", 307),
        "location path": _answers("Location", f"{API}/k/@@/product", 301),
        "location relative": _answers("Location", "/product?key=@@", 302),
        "location other host": _answers("Location", "https://other.example.test/p?key=@@#key=@@", 302),
        "location credentials": _answers("Location", "https://@@:x@api.keepa.com/p", 302),
        "link": _answers("Link", f'<{API}/product?key=@@&page=2>; rel="next"'),
        "content location": _answers("Content_Location", f"{API}/product?key=@@"),
        "refresh": _answers("Refresh", f"0; url={API}/product?key=@@"),
    }
    return plain | places


def coded_bodies() -> dict[str, Build]:
    return {
        "gzip": _coded(gzip.compress, "gzip"),
        "gzip upper case": _coded(gzip.compress, "GZIP"),
        "x-gzip": _coded(gzip.compress, "x-gzip"),
        "gzip two members": _coded(lambda d: gzip.compress(d[:20]) + gzip.compress(d[20:]), "gzip"),
        "gzip twice": _coded(lambda d: gzip.compress(gzip.compress(d)), "gzip, gzip"),
        "gzip unannounced": _coded(gzip.compress),
        "gzip lying": _coded(lambda d: d, "gzip"),
        "gzip cut": _coded(lambda d: gzip.compress(d, 0)[:-6], "gzip"),
        "deflate": _coded(zlib.compress, "deflate"),
        "deflate bare": _coded(lambda d: zlib.compress(d)[2:-4], "deflate"),
        "unknown coding": _coded(lambda d: d, "br"),
        "identity": _coded(lambda d: d, "identity"),
    }


def bodies() -> dict[str, Build]:
    inner = json.dumps({"key": "@@", "url": f"{API}/p?key=@@"})
    texts = {
        "echo in error": _body('{"error":{"message":"bad key @@"},"tokensLeft":1}', status=403),
        "echo in error details": _body('{"error":{"details":"@@"}}', status=402),
        "echo of URL": _body(f'{{"request":"{API}/product?key=@@&domain=1"}}'),
        "JSON in JSON": _body(json.dumps({"error": {"details": inner}})),
        "JSON in JSON in JSON": _body(json.dumps({"a": json.dumps({"b": inner})})),
        "JSON name": _body('{"@@":1,"a":1.10}'),
        "JSON list": _body('["key","@@",1]'),
        "JSON text": _body('"@@"'),
        "JSON escaped name": _body('{"\\u006bey":"@@"}'),
        "JSON deep": _body("[" * 40 + '{"x":"@@"}' + "]" * 40),
        "JSON among numbers": _body('{"csv":[[1,2,3],null],"t":"@@","v":[' + "1," * 300 + "1]}"),
        "JSON cut": _body('{"error":{"message":"bad key @@'),
        "JSON with mark": _body('\ufeff{"m":"@@"}'),
        "JSON lines": _body('{"a":1}\n{"m":"@@"}\n', "application/x-ndjson"),
        "JSON as text": _body('{"m":"@@"}', "text/plain"),
        "JSON without media type": lambda form: exchange(body=b'{"m":"%b"}' % form, Content_Type=[]),
        "HTML": _body('<html><a href="/p?key=@@&amp;a=1">x</a><!-- @@ --></html>', "text/html", 503),
        "XML": _body("<e><key>@@</key><m a='@@'/></e>", "application/xml"),
        "plain": _body("bad key: @@\n", "text/plain", 500),
        "CSV": _body("a,b\n1,@@\n", "text/csv"),
        "script": _body("var key='@@';", "application/javascript"),
        "form": _body("error=1&key=@@", "application/x-www-form-urlencoded"),
        "many times": _body("[" + ",".join(['"@@"'] * 30) + "]"),
        "among personal data": _body(
            json.dumps({"sellers": {"A1": {"email": EMAIL, "phoneNumber": PHONE, "address": ["@@", "DE"]}}})
        ),
        "with webhook": lambda form: exchange(
            url=f"{API}/tracking?type=webhook&url={WEBHOOK}?s={form.decode()}",
            body=json.dumps({"error": {"message": f"bad url {WEBHOOK}?s={form.decode()}"}}).encode(),
        ),
    }
    binary = {
        "binary": lambda form: exchange(body=b"\xff\xfe\x00\x01" + form + b"\x80", Content_Type=["image/jpeg"]),
        "binary gzip": lambda form: exchange(body=b"\x80\x81" + gzip.compress(form), Content_Type=["application/x"]),
        "PNG text": lambda form: exchange(body=png((b"tEXt", b"Comment\0" + form)), Content_Type=["image/png"]),
        "PNG packed text": lambda form: exchange(
            body=png((b"zTXt", b"Comment\0\0" + zlib.compress(form))), Content_Type=["image/png"]
        ),
        "PNG tail": lambda form: exchange(body=png() + form, Content_Type=["image/png"]),
        "latin-1": lambda form: exchange(body="é".encode("latin-1") + form, Content_Type=["text/plain"]),
        "UTF-16": lambda form: exchange(
            body=('{"m":"' + form.decode() + '"}').encode("utf-16"), Content_Type=["application/json"]
        ),
        "UTF-16 unmarked": lambda form: exchange(body=form.decode().encode("utf-16-le"), Content_Type=["text/plain"]),
    }
    return texts | coded_bodies() | binary
