"""The meaning of a bot's lines. No bytes of a bot cause more than a fault."""

import contextlib
import json

import pytest
from hypothesis import given, strategies as st

from engine.referee import Ask, Hello, PlayerFault
from torres.runner import protocol
from torres.runner.protocol import Limits, Ready, Reply


def fault(line: bytes) -> str:
    with pytest.raises(PlayerFault) as caught:
        protocol.read_answer(line)
    assert caught.value.reason == "protocol"
    return caught.value.detail


def test_actions_or_an_index_are_an_answer() -> None:
    assert protocol.read_answer(b'{"actions":["add b3","end"]}') == Reply(
        ["add b3", "end"], None, None
    )
    assert protocol.read_answer(b'{"index": 7}') == Reply(None, 7, None)


def test_unknown_keys_and_messages_are_ignored() -> None:
    assert protocol.read_answer(b'{"index":1,"mood":{"a":[1]}}') == Reply(None, 1, None)
    assert protocol.read_answer(b'{"type":"thinking","depth":3}') is None
    assert protocol.read_ready(b'{"type":"hi"}') is None


def test_ready_may_have_a_name_and_decline_legal_actions() -> None:
    assert protocol.read_ready(b'{"type":"ready"}') == Ready(None, legal=True)
    line = b'{"type":"ready","name":"Mia","legal":false}'
    assert protocol.read_ready(line) == Ready("Mia", legal=False)


def test_a_note_is_cut_at_1024_bytes_between_characters() -> None:
    line = json.dumps({"index": 0, "note": "\u00e4" * 700}, ensure_ascii=False)
    reply = protocol.read_answer(line.encode())

    assert reply is not None
    assert reply.note == "\u00e4" * 512


def test_hello_has_the_keys_in_the_order_of_the_contract() -> None:
    hello = Hello("yucata", {"buy_draw": 3}, 2, 1, "ab12", {"pids": 64})

    assert protocol.encode_hello(hello) == (
        b'{"type":"hello","protocol":"torres/1","ruleset":"yucata",'
        b'"switches":{"buy_draw":3},"seats":2,"seat":1,"seed":"ab12",'
        b'"limits":{"pids":64}}\n'
    )


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"hello",
        b"[]",
        b"7",
        b"{}",
        b'{"type":5}',
        b'{"actions":[]}',
        b'{"actions":"end"}',
        b'{"actions":[7]}',
        b'{"actions":["end"],"index":0}',
        b'{"index":-1}',
        b'{"index":true}',
        b'{"index":7.0}',
        b'{"index":"7"}',
        b'{"index":1e400}',
        b'{"index":NaN}',
        b'{"index":1,"x":NaN}',
        b'{"index":1,"x":Infinity}',
        b'{"index":1}{"index":2}',
        b'{"index":1}\0',
        b'{"index":1,"index":2}',
        b'{"index":1,"\\u0069ndex":2}',
        b'{"index":1,"note":5}',
        b'{"index":1,"note":"\\ud800"}',
        b'{"index":1,"x":"\xff"}',
        b'{"\xff":1,"index":1}',
        b'{"index":' + b"9" * 60_000 + b"}",
        b'{"a":' + b"[" * 60_000,
        b'{"a":' * 12_000,
    ],
    ids=lambda line: ascii(line[:40]),
)
def test_a_wrong_shape_is_a_protocol_fault_that_quotes_it(line: bytes) -> None:
    detail = fault(line)

    assert len(detail) < 600
    assert detail.isprintable()


@given(st.binary(max_size=200))
def test_any_bytes_cause_a_fault_at_most(line: bytes) -> None:
    for read in (protocol.read_answer, protocol.read_ready):
        with contextlib.suppress(PlayerFault):
            read(line)


def test_the_referee_writes_ascii_without_spaces_in_the_contract_s_order() -> None:
    ask = Ask("turn", 12, {"phase": 1}, [{"seat": 1}], ["end"], 1000, 9000.7)

    assert protocol.encode_decide(ask, legal=True) == (
        b'{"type":"decide","decision":"turn","ply":12,"state":{"phase":1},'
        b'"events":[{"seat":1}],"legal":["end"],"clock":{"move_ms":1000,"bank_ms":9000}}\n'
    )
    assert b"legal" not in protocol.encode_decide(ask, legal=False)
    assert protocol.encode({"detail": "\u00e4"}) == b'{"detail":"\\u00e4"}\n'


def test_legal_actions_that_do_not_fit_in_a_line_are_left_out() -> None:
    ask = Ask("turn", 0, {}, [], [f"play jump {n}" for n in range(9_000)], 1, 1)

    line = protocol.encode_decide(ask, legal=True)

    assert b"legal" not in line
    assert len(line) <= protocol.MAX_LINE_BYTES


def test_the_limits_are_those_of_the_contract() -> None:
    assert json.dumps(Limits().as_dict(), separators=(",", ":")) == (
        '{"memory_mb":256,"pids":64,"tmp_mb":16,"line_bytes":65536,'
        '"output_bytes":1048576,"start_ms":10000,"move_ms":1000,"bank_ms":10000}'
    )
