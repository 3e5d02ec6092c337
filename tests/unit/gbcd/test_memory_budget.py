from gbcd import memory_budget as _memory


def test_the_memory_available_is_the_systems_or_the_containers(monkeypatch, tmp_path):
    report, limit = tmp_path / "meminfo", tmp_path / "limit"
    monkeypatch.setattr(_memory, "MEMORY_INFO", report)
    monkeypatch.setattr(_memory, "GROUP_LIMIT", limit)
    assert _memory.available_memory() > 1 << 20  # the physical memory
    report.write_text("MemTotal:  900 kB\nMemAvailable:   100 kB\n")
    assert _memory.available_memory() == 100 * 1024
    limit.write_text("5000\n")
    assert _memory.available_memory() == 5000
    limit.write_text("max\n")
    assert _memory.available_memory() == 100 * 1024


def test_a_quarter_of_it_is_taken_unasked_and_no_more_than_4_gib(monkeypatch):
    for available, budget in ((4000, 1000), (1 << 40, 4 << 30), (None, 1 << 30)):
        monkeypatch.setattr(_memory, "available_memory", lambda available=available: available)
        assert _memory.auto_memory_budget() == budget
