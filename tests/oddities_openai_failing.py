"""Oddities of OpenAI-compatible servers behind which there is no reply that may be used."""

from __future__ import annotations

import json

from tests.oddities import DONE, OPENAI, PIECES, TEXT, Exchange, chunk, event, oddity, ping, refuse


@oddity(OPENAI)
def cut(x: Exchange) -> None:
    """The connection is closed in the middle."""
    x.stream(*map(chunk, PIECES[:2]))


@oddity(OPENAI)
def cut_in_an_event(x: Exchange) -> None:
    """The connection is closed in the middle of an event."""
    x.stream(*map(chunk, PIECES[:2]), event(chunk("lost"))[:25])


@oddity(OPENAI)
def cut_in_a_chunked_body(x: Exchange) -> None:
    """The connection is closed before the last HTTP chunk."""
    x.head(Transfer_Encoding="chunked")
    data = event(chunk(PIECES[0]))
    x.raw(b"%x\r\n%s\r\nff\r\n" % (len(data), data))


@oddity(OPENAI)
def cut_json(x: Exchange) -> None:
    """A JSON completion of which half arrives."""
    x.head(kind="application/json")
    x.raw(json.dumps({"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]}).encode()[:60])


@oddity(OPENAI)
def reset(x: Exchange) -> None:
    """The connection is reset in the middle."""
    x.stream(*map(chunk, PIECES[:2]))
    x.reset()


@oddity(OPENAI)
def damaged_json(x: Exchange) -> None:
    """An event whose JSON is damaged."""
    x.stream(chunk(PIECES[0]), b'data: {"choices": [{]}\n\n', chunk(finish="stop"), DONE)


@oddity(OPENAI)
def damaged_gzip(x: Exchange) -> None:
    """A body that is not what its encoding says."""
    x.head(Content_Encoding="gzip")
    x.raw(b"data: not compressed\n\n")


@oddity(OPENAI)
def only_done(x: Exchange) -> None:
    """[DONE] and nothing else."""
    x.stream(DONE)


@oddity(OPENAI)
def empty_body(x: Exchange) -> None:
    """Nothing at all."""
    x.head()


@oddity(OPENAI)
def content_filter(x: Exchange) -> None:
    """A filter ends the reply."""
    x.stream(*map(chunk, PIECES[:2]), chunk(finish="content_filter"), DONE)


@oddity(OPENAI)
def endless_event(x: Exchange) -> None:
    """One event that does not end."""
    x.stream(b"data: {")
    for _ in range(160):
        x.raw(b"x" * 65536)


@oddity(OPENAI)
def error_in_the_middle(x: Exchange) -> None:
    """An error object in the middle of a stream."""
    x.stream(chunk(PIECES[0]), {"error": {"message": "overloaded, try later", "code": 529}}, DONE)


@oddity(OPENAI)
def error_first(x: Exchange) -> None:
    """A stream that begins with an error object."""
    x.stream({"error": {"message": "no capacity", "type": "server_error"}}, DONE)


@oddity(OPENAI)
def error_event(x: Exchange) -> None:
    """An event of type error with plain words."""
    x.stream(chunk(PIECES[0]), b"event: error\ndata: worker died\n\n", DONE)


@oddity(OPENAI)
def error_with_status_200(x: Exchange) -> None:
    """A JSON error with the status of a success."""
    x.json({"error": "model is being updated"})


@oddity(OPENAI)
def status_400(x: Exchange) -> None:
    """400 with a message."""
    refuse(x, "temperature must be at most 2")


@oddity(OPENAI)
def status_401(x: Exchange) -> None:
    """401 that repeats the key."""
    refuse(x, f"Incorrect API key provided: {x.headers.get('authorization', '')}.", 401, code="invalid_api_key")


@oddity(OPENAI)
def status_401_raw(x: Exchange) -> None:
    """401 that repeats all headers, not as JSON, and very long."""
    x.head(401, "text/plain")
    x.raw((json.dumps(x.headers) * 40).encode())


@oddity(OPENAI)
def status_403(x: Exchange) -> None:
    """403 with FastAPI's detail."""
    x.json({"detail": "Forbidden for this key"}, 403)


@oddity(OPENAI)
def status_404(x: Exchange) -> None:
    """404: no such model."""
    refuse(x, "The model `gone` does not exist", 404, code="model_not_found")


@oddity(OPENAI)
def status_404_page(x: Exchange) -> None:
    """404 with a web page."""
    x.head(404, "text/html")
    x.raw(b"<html><body>nginx</body></html>")


@oddity(OPENAI)
def status_429(x: Exchange) -> None:
    """429 with Retry-After."""
    x.json({"error": {"message": "Rate limit reached"}}, 429, Retry_After="7")


@oddity(OPENAI)
def status_500(x: Exchange) -> None:
    """500 without a body."""
    x.head(500)


@oddity(OPENAI)
def status_503_loading(x: Exchange) -> None:
    """503 while llama.cpp loads the model, with terminal escapes and line breaks in the message."""
    x.json({"error": {"code": 503, "message": "Loading\nmodel \x1b[31mplease\x1b[0m wait\x00"}}, 503)


@oddity(OPENAI)
def status_unknown(x: Exchange) -> None:
    """A status nobody has heard of, and an error as a list."""
    x.json([{"error": {"message": "odd"}}], 599)


@oddity(OPENAI)
def moved(x: Exchange) -> None:
    """A redirection."""
    x.head(307, Location="https://elsewhere.example/v1")


@oddity(OPENAI)
def web_page(x: Exchange) -> None:
    """A web page with the status of a success."""
    x.head(kind="text/html")
    x.raw(b"<!doctype html><title>Sign in</title>")


@oddity(OPENAI)
def overflow_openai(x: Exchange) -> None:
    """Context overflow in OpenAI's words."""
    message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    refuse(x, message, code="context_length_exceeded", param="messages")


@oddity(OPENAI)
def overflow_llama_cpp(x: Exchange) -> None:
    """Context overflow in llama.cpp's words."""
    refuse(x, "the request exceeds the available context size, try increasing it", type="exceed_context_size_error")


@oddity(OPENAI)
def overflow_vllm(x: Exchange) -> None:
    """Context overflow in the words of older vLLM servers, where the error is the whole body."""
    message = "This model's maximum context length is 4096 tokens. Please reduce the length of the messages."
    x.json({"object": "error", "message": message, "code": 400}, 400)


@oddity(OPENAI)
def overflow_in_the_stream(x: Exchange) -> None:
    """Context overflow that is reported in the stream."""
    x.stream({"error": {"code": 400, "message": "too long", "type": "exceed_context_size_error"}})


@oddity(OPENAI)
def silent(x: Exchange) -> None:
    """The request is taken and nothing comes."""
    x.wait_for_hang_up()


@oddity(OPENAI)
def silent_in_the_middle(x: Exchange) -> None:
    """The stream stalls."""
    x.stream(*map(chunk, PIECES[:2]))
    x.wait_for_hang_up()


@oddity(OPENAI)
def silent_in_an_answer(x: Exchange) -> None:
    """The stream stalls when the answer has begun."""
    x.stream(*map(chunk, ("Thought: easy.\n", "Final Answer: It ", "is 4")))
    x.wait_for_hang_up()


@oddity(OPENAI)
def only_keep_alives(x: Exchange) -> None:
    """Keep-alives for ever."""
    x.head()
    ping(x)


@oddity(OPENAI)
def silent_refusal(x: Exchange) -> None:
    """503, and a body that never comes."""
    x.head(503, Content_Length="100")
    x.wait_for_hang_up()


@oddity(OPENAI)
def hangs_up(x: Exchange) -> None:
    """The connection is closed without an answer."""


@oddity(OPENAI)
def not_http(x: Exchange) -> None:
    """Something else than HTTP answers."""
    x.raw(b"SSH-2.0-OpenSSH_9.2\r\n")


@oddity(OPENAI)
def tool_calls_without_a_call(x: Exchange) -> None:
    """The end says that tools are called, and there is neither a call nor text."""
    x.stream(chunk(""), chunk(finish="tool_calls"), DONE)
