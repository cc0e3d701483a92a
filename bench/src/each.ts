const workersAtOnce = 16

/** Does the work `count` times, several at once. */
export async function each(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let i = next++; i < count; i = next++) await work(i)
  }
  await Promise.all(Array.from({ length: workersAtOnce }, worker))
}
