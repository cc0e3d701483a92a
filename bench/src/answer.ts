/** The parts of a resolve response that are compared. */
export interface Sent {
  body: string
  contentType: string | null
  etag: string | null
}

export async function get(url: string, bearer: string): Promise<Sent> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${bearer}` } })
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  const { headers } = answer
  return { body: await answer.text(), contentType: headers.get('content-type'), etag: headers.get('etag') }
}

/** Throws if the answers differ, because a side that sends less would be faster. */
export function assertSame(ours: Sent, floor: Sent): void {
  for (const part of ['body', 'contentType', 'etag'] as const)
    if (ours[part] !== floor[part])
      throw new Error(`the floor answers another ${part}:\n${floor[part]}\nand not ours:\n${ours[part]}`)
}
