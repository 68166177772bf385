"""A coding agent that knows what belongs to the file, branch and error in front of it."""

from __future__ import annotations

import argparse
import os

from palimpsest_client import Palimpsest
from palimpsest_client.params import Work, WorkSignals


def main() -> None:
    """Answer one task, and tell the server what was of use and what was decided."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", help="what is to be done")
    parser.add_argument("--file", required=True, help="the open file")
    parser.add_argument("--branch", help="the branch")
    parser.add_argument("--error", help="the last error")
    parser.add_argument("--project", default="lantern")
    parser.add_argument("--agent", default="coder")
    parser.add_argument("--user", default="developer")
    parser.add_argument("--useful", action="store_true", help="what was told was of use")
    parser.add_argument("--decided", help="a decision to keep, with its reason")
    given = parser.parse_args()
    work: Work = {"file_opened": given.file}
    signals: WorkSignals = {"current_file": given.file, "query": given.task}
    if given.branch:
        work["branch"] = signals["branch"] = given.branch
    if given.error:
        work["error"] = given.error
        signals["recent_errors"] = [given.error]

    address = os.environ.get("PALIMPSEST_URL", "http://127.0.0.1:8000")
    with Palimpsest(address, os.environ["PALIMPSEST_API_KEY"]) as client:
        agent, project, user = given.agent, given.project, given.user
        # The first conversation makes an agent and a project that are new.
        client.conversations.create(agent=agent, user=user, project=project)
        likely = client.context.predict(agent=agent, user=user, project=project, limit=5, **work)
        for each in likely.predicted_memories:
            print(f"[likely] {each.content}")
        context = client.context.assemble(agent=agent, user=user, project=project, signals=signals)
        answer = client.chat.complete(
            model=agent,
            user=user,
            metadata={"project": project},
            messages=[
                {"role": "system", "content": f"You change code. You know:\n{context.context}"},
                {"role": "user", "content": f"{given.file}: {given.task}"},
            ],
        )
        print(answer.text)
        if given.useful:
            for memory in context.memories:
                client.memories.feedback(memory.id, signal="helpful", work=work)
            print(f"[useful] {len(context.memories)} memories will be likelier next time")
        if given.decided:
            kept = client.memories.create(
                form="decision",
                payload={
                    "decision": given.decided,
                    "artifacts": [{"kind": "file", "ref": given.file}],
                },
                agent=agent,
                project=project,
            )
            print(f"[{kept.outcome}] {kept.content}")


if __name__ == "__main__":
    main()
