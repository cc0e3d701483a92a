import type { ServerResponse } from 'node:http'

/** An answer of server-sent events, which stays open. Its feature writes the events and ends it. */
export class EventStream {
  /** Takes over the response once its head is sent. The client may have hung up already. */
  readonly begin: (response: ServerResponse) => void

  constructor(begin: EventStream['begin']) {
    this.begin = begin
  }
}

/** `x-accel-buffering` tells nginx to pass each event on at once. */
const head = ['content-type', 'text/event-stream; charset=utf-8', 'x-accel-buffering', 'no']

/** Sends the head and hands the response over. An answer to HEAD has no events. */
export function sendEvents(response: ServerResponse, stream: EventStream, headers: readonly string[]): void {
  response.writeHead(200, [...headers, ...head])
  response.flushHeaders()
  stream.begin(response)
  if (response.req.method === 'HEAD') response.end()
}
