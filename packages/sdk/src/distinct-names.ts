/**
 * Names things for people. A name that two things of the list share is followed by the id.
 *
 * @example distinctNames([{ id: 'skt_1', name: 'ci' }, { id: 'skt_2', name: 'ci' }]) // ['ci (skt_1)', 'ci (skt_2)']
 */
export function distinctNames(things: readonly { id: string; name: string }[]): string[] {
  const byName = Map.groupBy(things, ({ name }) => name)
  const isShared = ({ id, name }: { id: string; name: string }) => byName.get(name)?.some((other) => other.id !== id)
  return things.map((one) => (isShared(one) ? `${one.name} (${one.id})` : one.name))
}
