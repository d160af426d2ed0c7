"""The recorded reports that the book shows are those of the peers as they are locked."""

import math

import pytest
from reports import PEERS, RECORDS, errors, findings, report


@pytest.fixture(scope="module", params=PEERS)
def texts(request):
    return (RECORDS / f"{request.param}.txt").read_text("utf-8"), report(request.param)


def test_each_peer_has_its_record_and_no_other_lies_there():
    assert {path.stem for path in RECORDS.iterdir()} == set(PEERS)


def test_the_findings_are_those_recorded(texts):
    recorded, now = map(findings, texts)
    assert recorded == now, "out of date: make record-peers"


def test_the_errors_are_of_the_size_recorded(texts):
    recorded, now = map(errors, texts)
    assert recorded.keys() == now.keys()
    assert len(recorded) > 30
    for name, error in recorded.items():
        if math.isinf(error):
            assert math.isinf(now[name]), name
        elif max(error, now[name]) > 16:
            assert error / 8 < now[name] < error * 8, name
