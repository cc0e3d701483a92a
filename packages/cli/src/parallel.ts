/**
 * Waits for all of the work, which runs at the same time. If several parts fail, the error is always that of the first
 * part, and not of the part that failed earliest.
 */
export async function inOrder<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const ended = await Promise.allSettled(work)
  return ended.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/** Does the work for each item, with at most eight parts of it at the same time. Returns the results in order. */
export async function eachAtOnce<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += atOnce)
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))))
  return results
}

const atOnce = 8
