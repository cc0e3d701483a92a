const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** Returns a duration in the largest unit that gives a whole number: `90 minutes`, `30 days`. */
export function durationText(seconds: number): string {
  const [unit, size] = units.find(([, length]) => seconds % length === 0) ?? ['second', 1]
  return count(seconds / size, unit)
}

/** Returns the remaining time in its two largest units: `1 hour 5 minutes`, `40 seconds`. */
export function remainingText(seconds: number): string {
  const first = units.findIndex(([, length]) => seconds >= length)
  if (first < 0) return '0 seconds'
  let rest = seconds
  const parts = units.slice(first, first + 2).map(([unit, length]) => {
    const whole = Math.floor(rest / length)
    rest -= whole * length
    return whole === 0 ? '' : count(whole, unit)
  })
  return parts.filter((part) => part !== '').join(' ')
}

const count = (number: number, unit: string) => `${number} ${unit}${number === 1 ? '' : 's'}`
