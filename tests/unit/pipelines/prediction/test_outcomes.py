"""The table of what became of videos."""

from pathlib import Path

from pipelines.prediction.outcomes import VideoOutcome, outcome_table


def test_a_column_for_notes_only_where_there_is_one():
    done = VideoOutcome(Path("a.avi"), "done", 9, 8, {"NO_PERSON": 1})
    kept, failed = (
        VideoOutcome(Path("b.avi"), "kept", 9, 9),
        VideoOutcome(Path("c.avi"), "failed", fault="c.avi: is empty"),
    )
    heads = ["video", "frames", "with a person", "flagged frames", "seconds"]
    assert [column.header for column in outcome_table([done]).columns] == heads
    *columns, notes = outcome_table([done, kept, failed]).columns
    assert [column.header for column in columns] == heads
    assert list(map(str, notes.cells)) == ["", "was finished: left as it is", "c.avi: is empty"]
    assert list(map(str, columns[3].cells)) == ["no person 1", "", ""]
