/** Options that every command has, and whether a value follows. */
const shared: Readonly<Record<string, boolean>> = {
  '--json': false,
  '--debug': false,
  '--url': true,
  '--org': true,
  '--profile': true,
}

/**
 * Command lines as people type them -> as the commands are declared: `help secrets set` and `version` are options there,
 * and `leading` options, which all commands share, stand behind the command's name.
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
