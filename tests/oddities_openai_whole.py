"""Oddities of OpenAI-compatible servers behind which there is a whole reply."""

from __future__ import annotations

import gzip
import json
from typing import Any

from tests.oddities import DONE, OPENAI, PIECES, TEXT, USAGE, Exchange, chunk, event, oddity, ping, refuse


@oddity(OPENAI)
def plain(x: Exchange) -> None:
    """A faultless stream with usage."""
    x.whole(last=({"choices": [], "usage": USAGE},))


@oddity(OPENAI)
def empty_choices(x: Exchange) -> None:
    """A first chunk without choices, as Azure sends, and a last one with usage only."""
    x.stream({"choices": []}, *map(chunk, PIECES), chunk(finish="stop"), {"choices": [], "usage": USAGE}, DONE)


@oddity(OPENAI)
def usage_in_every_chunk(x: Exchange) -> None:
    """Usage so far in every chunk; the last counts."""
    usages = [USAGE | {"completion_tokens": n} for n in (1, 4, 6, 8, 11)]
    x.stream(*[chunk(t, usage=u) for t, u in zip(PIECES, usages, strict=True)], chunk(finish="stop", usage=None), DONE)


@oddity(OPENAI)
def cached_tokens(x: Exchange) -> None:
    """Cache hits in prompt_tokens_details."""
    x.whole(last=({"choices": [], "usage": USAGE | {"prompt_tokens_details": {"cached_tokens": 20}}},))


@oddity(OPENAI)
def cache_hits_as_deepseek(x: Exchange) -> None:
    """Cache hits in prompt_cache_hit_tokens."""
    x.whole(last=({"choices": [], "usage": USAGE | {"prompt_cache_hit_tokens": 20, "prompt_tokens_details": None}},))


@oddity(OPENAI)
def cache_hits_as_llama_cpp(x: Exchange) -> None:
    """No usage at all, but llama.cpp's timings."""
    timings = {"cache_n": 20, "prompt_n": 11, "predicted_n": 11, "prompt_ms": 1.5}
    x.stream(*map(chunk, PIECES), chunk(finish="stop", timings=timings), DONE)


@oddity(OPENAI)
def usage_nonsense(x: Exchange) -> None:
    """Usage with values that are no counts."""
    x.whole(last=({"choices": [], "usage": {"prompt_tokens": "many", "completion_tokens": True, "x": -1}},))


@oddity(OPENAI)
def null_content(x: Exchange) -> None:
    """content null, delta null, choices null, between the text."""
    null_delta = {"choices": [{"index": 0, "delta": None}]}
    x.stream(
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]},
        *map(chunk, PIECES[:2]),
        null_delta,
        {"choices": None},
        {"choices": [None]},
        *map(chunk, PIECES[2:]),
        chunk(finish="stop"),
        DONE,
    )


@oddity(OPENAI)
def content_parts(x: Exchange) -> None:
    """content as a list of parts, with a thinking part among them."""
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
    x.whole(stream=(thinking, *[[{"type": "text", "text": piece}] for piece in PIECES]))  # type: ignore[arg-type]


@oddity(OPENAI)
def reasoning_content(x: Exchange) -> None:
    """Reasoning on its own channel, by both of its names."""
    thoughts = [{"choices": [{"delta": {name: "hm", "content": None}}]} for name in ("reasoning_content", "reasoning")]
    x.stream(*thoughts, *map(chunk, PIECES), chunk(finish="stop"), DONE)


@oddity(OPENAI)
def keep_alives(x: Exchange) -> None:
    """Comments, ping events, empty data and words that are no JSON between the chunks."""
    noise = b": ping\n\n\n\nevent: ping\ndata: {}\n\ndata:\n\ndata: : PROCESSING\n\nretry: 10\nid: 7\n\n"
    x.stream(*[item for piece in PIECES for item in (noise, chunk(piece))], noise, chunk(finish="stop"), noise, DONE)


@oddity(OPENAI)
def crlf(x: Exchange) -> None:
    """Lines that end in CR LF, and no space behind the colon."""
    items = [*map(chunk, PIECES), chunk(finish="stop")]
    x.stream(*[event(item, "\r\n\r\n").replace(b"data: ", b"data:") for item in items], b"data:[DONE]\r\n\r\n")


@oddity(OPENAI)
def byte_by_byte(x: Exchange) -> None:
    """Each byte in a packet of its own, so that every character is split."""
    x.head()
    for item in [*map(event, map(chunk, PIECES)), event(chunk(finish="stop")), DONE]:
        for at in range(len(item)):
            x.raw(item[at : at + 1])


@oddity(OPENAI)
def invalid_byte(x: Exchange) -> None:
    """One byte that is not UTF-8."""
    x.stream(chunk("a"), event(chunk("bXc")).replace(b"X", b"\xff"), chunk("你", "stop"), DONE)


@oddity(OPENAI)
def surrogate_halves(x: Exchange) -> None:
    """A surrogate pair as escapes in two chunks, and a lone one."""
    x.stream(
        *[b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % t for t in (rb"a\ud83c", rb"\udf78b", rb"\ud83dc")]
    )
    x.events(chunk(finish="stop"), DONE)


@oddity(OPENAI)
def plain_json(x: Exchange) -> None:
    """A JSON completion although a stream was asked for."""
    x.json({"choices": [{"message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}], "usage": USAGE})


@oddity(OPENAI)
def json_called_a_stream(x: Exchange) -> None:
    """A JSON completion with the content type of a stream and white space before it."""
    x.head()
    x.raw(b" \r\n" + json.dumps({"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]}).encode())


@oddity(OPENAI)
def stream_called_json(x: Exchange) -> None:
    """A stream with the content type of JSON."""
    x.head(kind="application/json")
    x.events(*map(chunk, PIECES), chunk(finish="stop"), DONE)


@oddity(OPENAI)
def gzipped(x: Exchange) -> None:
    """A compressed stream although none was accepted."""
    x.head(Content_Encoding="gzip")
    x.raw(gzip.compress(b"".join(map(event, [*map(chunk, PIECES), chunk(finish="stop")])) + DONE))


@oddity(OPENAI)
def two_choices(x: Exchange) -> None:
    """A second choice that was not asked for."""
    other = {"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "length"}]}
    x.stream(*[item for piece in PIECES for item in (other, chunk(piece))], chunk(finish="stop"), DONE)


@oddity(OPENAI)
def no_done(x: Exchange) -> None:
    """finish_reason, but no [DONE]."""
    x.stream(*map(chunk, PIECES), chunk(finish="stop"))


@oddity(OPENAI)
def no_done_and_left_open(x: Exchange) -> None:
    """finish_reason, then keep-alives for ever."""
    x.stream(*map(chunk, PIECES), chunk(finish="stop"))
    ping(x)


@oddity(OPENAI)
def done_without_finish(x: Exchange) -> None:
    """[DONE], but no finish_reason."""
    x.stream(*map(chunk, PIECES), DONE)


@oddity(OPENAI)
def done_and_left_open(x: Exchange) -> None:
    """[DONE], then nothing, and the connection stays open."""
    x.whole()
    x.wait_for_hang_up()


@oddity(OPENAI)
def no_last_newline(x: Exchange) -> None:
    """The stream ends right behind the last brace."""
    x.stream(*map(chunk, PIECES), event(chunk(finish="stop"), ""))


@oddity(OPENAI)
def text_after_done(x: Exchange) -> None:
    """More text behind the end."""
    x.whole(last=(chunk("more"), chunk("more", "stop")))
    x.events(chunk("more"))


@oddity(OPENAI)
def reset_after_finish(x: Exchange) -> None:
    """The connection is reset when the reply is whole."""
    x.stream(*map(chunk, PIECES), chunk(finish="stop"))
    x.reset()


@oddity(OPENAI)
def length(x: Exchange) -> None:
    """The reply is cut by the token limit."""
    x.stream(*map(chunk, PIECES), chunk(finish="length"), DONE)


@oddity(OPENAI)
def kept_open(x: Exchange) -> None:
    """A faultless stream in HTTP chunks on a connection that is kept open."""
    x.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for item in [*map(event, map(chunk, PIECES)), event(chunk(finish="stop")), DONE, b""]:
        x.raw(b"%x\r\n%s\r\n" % (len(item), item))


@oddity(OPENAI)
def stop_ignored(x: Exchange) -> None:
    """The stop string arrives, in two pieces, and more text behind it for ever."""
    x.stream(*map(chunk, PIECES), chunk("\nObser"), chunk("vation: invented"))
    x.wait_for_hang_up()


@oddity(OPENAI)
def almost_a_stop(x: Exchange) -> None:
    """The reply ends with the beginning of a stop string."""
    x.whole(stream=(*PIECES, "\nObserv"))


@oddity(OPENAI)
def stop_unsupported(x: Exchange) -> None:
    """A request with stop is refused; the reply runs over the stop string."""
    if "stop" in x.body:
        refuse(x, "Unsupported parameter: 'stop' is not supported with this model.", param="stop")
    else:
        x.whole(stream=(*PIECES, "\nObservation: invented"))


@oddity(OPENAI)
def stream_options_unsupported(x: Exchange) -> None:
    """A request with stream_options is refused, in FastAPI's words."""
    if "stream_options" in x.body:
        detail = [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]
        x.json({"detail": detail}, 422)
    else:
        x.whole()


@oddity(OPENAI)
def max_tokens_renamed(x: Exchange) -> None:
    """A request with max_tokens is refused in favour of max_completion_tokens."""
    if "max_tokens" in x.body:
        refuse(x, "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
    else:
        x.whole()


@oddity(OPENAI)
def everything_unsupported(x: Exchange) -> None:
    """Every field is refused, one after the other, for ever."""
    refuse(x, "these are not supported: stop, stream_options, max_tokens (use max_completion_tokens), messages")


@oddity(OPENAI)
def prefix_echoed(x: Exchange) -> None:
    """The last assistant message is repeated before it is gone on from."""
    x.whole(
        stream=(x.body["messages"][-1]["content"][:3], x.body["messages"][-1]["content"][3:] + PIECES[0], *PIECES[1:])
    )


@oddity(OPENAI)
def prefix_not_echoed(x: Exchange) -> None:
    """The last assistant message is gone on from."""
    x.whole(stream=PIECES if x.body["messages"][-1]["role"] == "assistant" else ("no prefix",))


@oddity(OPENAI)
def prefix_half_echoed(x: Exchange) -> None:
    """The reply begins like the prefix but goes on differently: it is no echo."""
    x.whole(stream=(x.body["messages"][-1]["content"][:3], *PIECES))


@oddity(OPENAI)
def refusal_text(x: Exchange) -> None:
    """The model's refusal comes in a field of its own."""
    x.stream({"choices": [{"delta": {"content": None, "refusal": TEXT}}]}, chunk(finish="stop"), DONE)


@oddity(OPENAI)
def reasoning_details(x: Exchange) -> None:
    """Reasoning in pieces, in OpenRouter's form, which has to be sent back, signature and all."""
    pieces = [{"type": "reasoning.text", "text": text, "index": 0, "format": "f"} for text in ("h", "m")]
    pieces += [
        {"type": "reasoning.text", "signature": "s1gn", "index": 0},
        {"type": "reasoning.encrypted", "data": "eA=="},
    ]
    thoughts = [{"choices": [{"delta": {"reasoning": p.get("text", ""), "reasoning_details": [p]}}]} for p in pieces]
    x.stream(*thoughts, *map(chunk, PIECES), chunk(finish="stop"), DONE)


@oddity(OPENAI)
def usage_with_details(x: Exchange) -> None:
    """Usage that tells of cache hits and of reasoning that is billed and not shown."""
    details = {
        "prompt_tokens_details": {"cached_tokens": 20},
        "completion_tokens_details": {"reasoning_tokens": 11, "audio_tokens": 0},
    }
    x.whole(
        last=({"choices": [], "usage": {"prompt_tokens": 31, "completion_tokens": 22, "total_tokens": 53} | details},)
    )


@oddity(OPENAI)
def usage_without_the_reasoning(x: Exchange) -> None:
    """The reasoning is left out of the completion, but not out of the total, as xAI and Google count."""
    details = {"completion_tokens_details": {"reasoning_tokens": 11}}
    x.whole(
        last=({"choices": [], "usage": {"prompt_tokens": 31, "completion_tokens": 11, "total_tokens": 53} | details},)
    )


@oddity(OPENAI)
def usage_in_the_choice(x: Exchange) -> None:
    """Usage inside of the last choice, as Moonshot sends."""
    last = chunk(finish="stop")
    last["choices"][0]["usage"] = USAGE
    x.stream(*map(chunk, PIECES), last, DONE)


@oddity(OPENAI)
def usage_as_groq(x: Exchange) -> None:
    """Usage in x_groq."""
    x.stream(*map(chunk, PIECES), chunk(finish="stop", x_groq={"id": "r", "usage": USAGE}), DONE)


@oddity(OPENAI)
def usage_as_anthropic(x: Exchange) -> None:
    """Usage by Anthropic's names, whose prompt tokens leave out the cache."""
    usage = {
        "input_tokens": 1,
        "output_tokens": 11,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 10,
    }
    x.whole(last=({"choices": [], "usage": usage},))


def _likely(text: str, logprob: float) -> dict[str, Any]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}


@oddity(OPENAI)
def token_probabilities(x: Exchange) -> None:
    """The tokens of each piece with their probabilities, one of which is impossible."""
    tops = [[_likely(text, -0.25), _likely("other", -1.5)] for text in PIECES]
    for piece, top in zip(PIECES, tops, strict=True):
        top[1]["logprob"] = -9999.0 if piece == PIECES[0] else -1.5
    content = [[_likely(text, -0.25) | {"top_logprobs": top}] for text, top in zip(PIECES, tops, strict=True)]
    pieces = [chunk(text) for text in PIECES]
    for item, tokens in zip(pieces, content, strict=True):
        item["choices"][0]["logprobs"] = {"content": tokens}
    x.stream(*pieces, chunk(finish="stop"), DONE)


@oddity(OPENAI)
def token_probabilities_cut_at_a_stop(x: Exchange) -> None:
    """The stop string comes in the middle of a token."""
    texts = ("42", ".\nObservation", ": no")
    pieces = [chunk(text) for text in texts]
    for item, text in zip(pieces, texts, strict=True):
        item["choices"][0]["logprobs"] = {"content": [_likely(text, -0.5) | {"top_logprobs": []}]}
    x.stream(*pieces, chunk(finish="stop"), DONE)


@oddity(OPENAI)
def vllm(x: Exchange) -> None:
    """A stream as vLLM sends it: role first, usage so far in each chunk, reasoning, stop_reason, token ids."""
    extra = {"logprobs": None, "token_ids": None}
    first = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, **extra, "finish_reason": None}]}
    thought = {"choices": [{"index": 0, "delta": {"reasoning": "hm", "reasoning_content": "hm"}, **extra}]}
    last = {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "stop", "stop_reason": None, **extra}]}
    so_far = [chunk(text, usage=USAGE | {"completion_tokens": n}) for n, text in enumerate(PIECES, 1)]
    x.stream(first, thought, *so_far, last, {"choices": [], "usage": USAGE | {"prompt_tokens_details": None}}, DONE)
