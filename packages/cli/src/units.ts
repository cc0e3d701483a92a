const sizes = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/**
 * Formats seconds in the unit that people would use. A duration that fits no unit is rounded up to whole minutes.
 *
 * @example formatDuration(300) // '5 minutes'
 */
export function formatDuration(seconds: number): string {
  const [unit, size] = sizes.find(([, one]) => seconds >= one && seconds % one === 0) ?? ['', 0]
  if (unit !== '') return count(seconds / size, unit)
  return seconds <= 90 ? count(seconds, 'second') : count(Math.ceil(seconds / 60), 'minute')
}

/** @example count(2, 'entry', 'entries') // '2 entries' */
export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`
