/** Options of Node that make a process believe that the time is another one. For a machine whose commands start cold. */
export function otherClock(days: number): string {
  const script = `const now = Date.now; Date.now = () => now() + ${days} * 86400000`
  return `--import=data:text/javascript,${encodeURIComponent(script)}`
}
