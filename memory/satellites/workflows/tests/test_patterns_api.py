"""Patterns are learned from code: in three languages, once, per project, whatever is sent."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.support.cast import Cast, Clients

PYTHON = """
def load_{name}(request, key):
    form = read_body(request, {name}Schema)
    if form.errors:
        raise InvalidRequest(form.errors)
    found = {name}_service.find(key)
    return render_json({name}Schema, found)
"""
SCRIPT = """
router.post("/{name}", async (req, res) => {{
  const body = {name}Schema.parseBody(req.rawBody);
  if (!body.isValid) {{ throw new InvalidRequest(body.problems); }}
  const found = await {name}Service.findOne(body.key);
  return res.sendJson(found.serialised);
}});
"""
GO = """
package api

func Load{name}(w http.ResponseWriter, r *http.Request) {{
	body, err := parseBody(r, {name}Schema)
	if err != nil {{
		http.Error(w, err.Error(), badRequest)
		return
	}}
	renderJson(w, {name}Service.Find(body))
}}
"""
CODE = {"py": PYTHON, "ts": SCRIPT, "tsx": SCRIPT, "go": GO}


def files_of(ending: str, names: str = "Order Invoice Parcel") -> list[dict[str, str]]:
    return [
        {"path": f"src/{name}.{ending}", "text": CODE[ending].format(name=name)}
        for name in names.split()
    ]


def learn(api: APIClient, files: list[dict[str, str]], project: str = "atlas") -> Any:
    response = api.post("/v1/patterns/learn", {"files": files, "project": project}, format="json")
    assert response.status_code == 200, response.content
    return response.json()


@pytest.mark.parametrize("ending", CODE)
def test_a_shape_that_repeats_becomes_a_pattern_with_its_places(
    api: APIClient, ending: str
) -> None:
    (memory,) = learn(api, files_of(ending))["learned"]
    assert memory["form"] == "pattern"
    payload = memory["payload"]
    assert "{" in payload["template"]
    assert "Invoice" not in payload["template"]
    assert len(payload["artifacts"]) == 3
    assert all("#L" in each["ref"] for each in payload["artifacts"])


def test_the_same_files_again_change_nothing(api: APIClient) -> None:
    learn(api, files_of("py"))
    again = learn(api, files_of("py"))
    assert (again["learned"], again["strengthened"], again["unchanged"]) == ([], [], 1)


def test_one_more_place_strengthens_the_pattern(api: APIClient) -> None:
    (first,) = learn(api, files_of("py"))["learned"]
    done = learn(api, files_of("py", "Refund"))
    (second,) = done["strengthened"]
    assert done["learned"] == []
    assert len(second["payload"]["artifacts"]) == 4
    assert second["importance"] > first["importance"]
    assert second["supersedes"] == first["id"]


def test_another_project_learns_for_itself(api: APIClient) -> None:
    learn(api, files_of("py"))
    other = learn(api, files_of("py"), project="other")
    assert len(other["learned"]) == 1
    assert other["unchanged"] == 0


def test_what_was_deleted_is_not_learned_again(api: APIClient) -> None:
    (memory,) = learn(api, files_of("py"))["learned"]
    assert api.delete(f"/v1/memories/{memory['id']}").status_code < 300
    again = learn(api, files_of("py"))
    assert (again["learned"], again["strengthened"]) == ([], [])


def test_two_places_or_one_file_are_no_pattern(api: APIClient) -> None:
    assert learn(api, files_of("py", "Order Invoice"))["learned"] == []
    joined = "".join(each["text"] for each in files_of("py"))
    assert learn(api, [{"path": "one.py", "text": joined}])["learned"] == []


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("a.py", "def f(:\n  pass", "syntax error"),
        ("a.py", "x = " + "(" * 500 + "1" + ")" * 500, "nested deeper"),
        ("a.mts", "{[(" * 50_000, ""),
        ("a.ts", "\x01\x02\x7f" * 100, "syntax error"),
        ("a.rb", "puts 1", "language"),
        ("a.js", "call();", "language"),
    ],
)
def test_a_file_that_cannot_be_read_is_skipped_with_a_reason(
    api: APIClient, path: str, text: str, reason: str
) -> None:
    done = learn(api, [{"path": path, "text": text}, *files_of("go")])
    (skipped,) = done["skipped"]
    assert skipped["path"] == path
    assert reason in skipped["reason"]
    assert len(done["learned"]) == 1


@pytest.mark.parametrize(
    ("files", "field"),
    [
        ([{"path": "a.py", "text": "x" * 1_000_000}], "files[0].text"),
        ([{"path": f"{n}.py", "text": "x" * 199_000} for n in range(21)], "files"),
        ([{"path": "a.py", "text": "x"}] * 2, "files"),
        ([], "files"),
    ],
)
def test_too_much_is_refused_by_name(api: APIClient, files: Any, field: str) -> None:
    response = api.post("/v1/patterns/learn", {"files": files, "project": "p"}, format="json")
    assert response.status_code == 422
    assert field in response.content.decode()


def test_text_that_the_database_cannot_keep_is_refused_by_name(api: APIClient) -> None:
    for text in ("x = '\\u0000'", "x = '\\ud800'"):
        body = f'{{"project": "p", "files": [{{"path": "a.py", "text": "{text}"}}]}}'
        response = api.post("/v1/patterns/learn", body, content_type="application/json")
        assert response.status_code == 422
        assert "files[0].text" in response.content.decode()
    response = api.post("/v1/patterns/learn", b'{"p": "\xff"}', content_type="application/json")
    assert 400 <= response.status_code < 500


def test_a_pattern_is_found_by_its_hint_and_by_its_place(api: APIClient) -> None:
    (memory,) = learn(api, files_of("py"))["learned"]
    api.post("/v1/memories", {"content": "Lunch is at noon.", "project": "atlas"}, format="json")
    assert "render_json" in memory["payload"]["hint"]
    asked = {"query": "render_json InvalidRequest", "project": "atlas"}
    found = api.get("/v1/memories/search", asked).json()
    assert memory["id"] in str(found["results"][0])
    place = memory["payload"]["artifacts"][1]["ref"]
    listed = api.get("/v1/memories", {"artifact": f"file:{place}"}).json()
    assert [each["id"] for each in listed["results"]] == [memory["id"]]
    other = api.get("/v1/memories", {"artifact": "file:src/Other.py#L1-L2"}).json()
    assert other["results"] == []


def test_another_team_learns_for_itself_and_sees_nothing(
    api: APIClient, globex: Cast, client_of: Clients
) -> None:
    (memory,) = learn(api, files_of("py"))["learned"]
    stranger = client_of(globex)
    done = learn(stranger, files_of("py", "Refund Order"))
    assert (done["learned"], done["strengthened"], done["unchanged"]) == ([], [], 0)
    assert len(learn(stranger, files_of("py"))["learned"]) == 1
    assert stranger.get(f"/v1/memories/{memory['id']}").status_code == 404
    assert api.get(f"/v1/memories/{memory['id']}").json()["payload"] == memory["payload"]


def test_an_agent_with_a_key_of_its_own_learns_as_itself(
    api: APIClient, acme: Cast, client_of: Clients
) -> None:
    kyra, luke = client_of(acme, acme.kyra), client_of(acme, acme.luke)
    body = {"files": files_of("py"), "project": "atlas", "agent": "luke"}
    assert kyra.post("/v1/patterns/learn", body, format="json").status_code == 403
    assert len(learn(kyra, files_of("py"))["learned"]) == 1
    assert learn(luke, files_of("py"))["unchanged"] == 1
    assert len(learn(luke, files_of("py", "Refund"))["strengthened"]) == 1


def test_a_pattern_whose_every_step_varies_is_not_told(api: APIClient) -> None:
    text = (
        "class Reader{0}:\n    @property\n    def key_of_reader(self) -> CustomerNumber:\n"
        "        return number_{0}(other_{0}({0}))\n"
    )
    files = [{"path": f"{name}.py", "text": text.format(name)} for name in ("a", "b", "c")]
    assert learn(api, files)["learned"] == []
