// Requests to the studio. The token is in the address that the page was opened with, and goes with each request
// in a header; it is put nowhere else.

const token = new URLSearchParams(location.search).get("token") ?? "";

export class StudioError extends Error {
  constructor(answer, status) {
    super(answer.error ?? `the studio answered with status ${status}`);
    this.kind = answer.kind;
    this.at = answer.at;
    this.length = answer.length;
    this.status = status;
  }
}

export async function call(name, body = {}, signal = undefined) {
  let response;
  try {
    response = await fetch(`/api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Realm-Token": token },
      body: JSON.stringify(body),
      signal,
      cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new StudioError({ error: "the studio does not answer; was it ended?", kind: "gone" }, 0);
  }
  const answer = await response.json();
  if (!response.ok) throw new StudioError(answer, response.status);
  return answer;
}
