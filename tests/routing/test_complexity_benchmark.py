"""What the routing benchmark counts."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from benchmarks.routing import CHECK, FIT, Item, figures, main, read_items
from benchmarks.routing_fit import ablations, cross_validated, table_of, weights_json
from routing.domain import complexity
from routing.domain.complexity import ComplexityScore, Tier
from routing.services.complexity import heuristic_score

EASY = ComplexityScore(1, 1, 0, 0, 1)
MIDDLING = ComplexityScore(5, 5, 4, 0, 4)
HARD = ComplexityScore(9, 9, 8, 0, 8)


def item(number: int, score: ComplexityScore, query: str = "a query") -> Item:
    return Item(str(number), query, 0, score.tier, score.dimensions)


def test_a_hard_query_sent_to_fast_is_counted_apart() -> None:
    items = [item(1, HARD), item(2, HARD), item(3, MIDDLING), item(4, EASY)]

    found = figures(items=items, scores=[EASY, MIDDLING, MIDDLING, EASY])

    assert found.accuracy == 0.5
    assert found.too_low == 1
    assert found.confusion[Tier.POWERFUL] == {Tier.FAST: 1, Tier.BALANCED: 1, Tier.POWERFUL: 0}
    assert found.error == pytest.approx(
        (HARD.weighted - EASY.weighted + HARD.weighted - MIDDLING.weighted) / 4
    )


def test_routing_by_the_labels_costs_between_always_fast_and_always_powerful() -> None:
    items = [item(1, HARD), item(2, MIDDLING), item(3, EASY)]

    found = figures(items=items, scores=[each.score for each in items])

    assert found.cost == found.cost_by_label
    assert found.cost_fast < found.cost < found.cost_powerful


def test_a_longer_answer_costs_more() -> None:
    long = ComplexityScore(9, 9, 8, 0, 10)

    assert item(1, long).cost(Tier.FAST) > item(1, HARD).cost(Tier.FAST)


def test_the_weights_in_use_are_what_the_labelled_queries_give() -> None:
    in_use = json.loads(files(complexity).joinpath("weights.json").read_text(encoding="utf-8"))

    fitted = json.loads(weights_json(table_of(read_items(paths=[FIT]))))

    assert fitted["features"].keys() == in_use["features"].keys()
    # The last of three decimals may differ on another processor.
    for name in ("bias", "subject", "vector"):
        np.testing.assert_allclose(fitted[name], in_use[name], atol=0.0021)
    for name, row in in_use["features"].items():
        np.testing.assert_allclose(fitted["features"][name], row, atol=0.0021)


def test_cross_validation_judges_each_item_once() -> None:
    table = table_of(read_items(paths=[CHECK])[:12])

    judged = cross_validated(table, folds=4)

    assert judged.shape == (12, 5)
    assert judged.min() > 0


def test_an_ablation_takes_out_one_part_and_leaves_the_others() -> None:
    table = table_of(read_items(paths=[CHECK]))

    parts = ablations(table)

    assert not parts["without form"].features[:, table.names.index("words")].any()
    assert parts["without form"].features[:, table.names.index("contrast")].any()
    assert parts["without the vector"].vectors.shape == (108, 0)


def test_the_benchmark_reads_the_files_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "What is the capital of Malta?"
    score = heuristic_score(query=query)
    row = {
        "id": "x", "query": query, "history_turns": 0, "label": "fast", "dims": score.dimensions,
    }  # fmt: skip
    path = tmp_path / "queries.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")

    main(["--data", str(path)])

    assert "n=1  tier accuracy 1.000  score error 0.00" in capsys.readouterr().out
