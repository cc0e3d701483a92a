/** Options of Node that make a process believe that the time is another one. For a machine whose commands start cold. */
export function otherClock(days: number): string {
  const script = `const now = Date.now; Date.now = () => now() + ${days} * 86400000`
  return `--import=data:text/javascript,${encodeURIComponent(script)}`
}

/** Options of Node that make a process wait a thousandth of the time, for timers of at least so many seconds. */
export function quickTimers(fromSeconds: number): string {
  const script = `const set = setTimeout
    globalThis.setTimeout = (act, ms, ...more) => set(act, ms >= ${fromSeconds} * 1000 ? ms / 1000 : ms, ...more)`
  return `--import=data:text/javascript,${encodeURIComponent(script)}`
}
