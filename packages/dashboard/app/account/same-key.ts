/** Whether two public keys are the same, whatever the order of their fields. */
export function isSameKey(one: string, other: string): boolean {
  const pointOf = (jwk: string) => {
    const { x, y } = JSON.parse(jwk) as { x: string; y: string }
    return `${x}.${y}`
  }
  return pointOf(one) === pointOf(other)
}
