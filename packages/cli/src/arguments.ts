/** Options that every command has, and whether a value follows. */
const shared: Readonly<Record<string, boolean>> = {
  '--json': false,
  '--debug': false,
  '--url': true,
  '--org': true,
  '--profile': true,
}

/**
 * Brings a typed command line into the declared form. `help secrets set` and `version` become options. `leading` are
 * the shared options before the command's name, which the caller moves behind it.
 */
export function normalize(args: string[]): { leading: string[]; rest: string[] } {
  const leading: string[] = []
  let rest = args
  for (;;) {
    const [first = '', second] = rest
    const takesValue = shared[first]
    const length = takesValue === undefined ? (isAssigned(first) ? 1 : 0) : takesValue && second !== undefined ? 2 : 1
    if (length === 0) break
    leading.push(...rest.slice(0, length))
    rest = rest.slice(length)
  }
  const [word, ...more] = rest
  if (word === 'version' || word === '-v' || word === '-V') return { leading: [], rest: ['--version'] }
  if (word === 'help') return { leading: [], rest: [...more, '--help'] }
  return { leading, rest }
}

const isAssigned = (text: string) => shared[text.slice(0, text.indexOf('='))] === true
