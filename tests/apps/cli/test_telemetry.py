"""Spans of runs, switched on by the environment alone."""

from trace_collector import trace_collector


def test_the_environment_alone_switches_the_spans_of_a_run_on(clew, script, calls, monkeypatch):
    model = script(calls(("bash", {"command": "echo hi"})), "Done.")
    with trace_collector() as collector:
        assert clew("run", "do it", "--model", model).code == 0
        assert collector.received == []
        monkeypatch.setenv("CLEW_TELEMETRY__ENABLED", "true")
        monkeypatch.setenv("CLEW_TELEMETRY__ENDPOINT", collector.address)
        assert clew("run", "do it", "--model", model).code == 0
        assert {"invoke_agent manus", "think", "act", "execute_tool bash"} <= set(collector.span_names)
        assert b"echo hi" not in b"".join(body for _, body in collector.received)


def test_a_collector_that_is_not_there_stops_no_run(clew, script, monkeypatch):
    monkeypatch.setenv("CLEW_TELEMETRY__ENABLED", "true")
    monkeypatch.setenv("CLEW_TELEMETRY__ENDPOINT", "http://127.0.0.1:9")
    result = clew("run", "do it", "--model", script("Done."))
    assert (result.code, "Traceback" in result.err) == (0, False)
