import type { Release } from './releases.ts'

/**
 * The program that npm links as a command: it runs the command on the Node that npm installed with the package. It is a
 * shell script, because the Node of the machine may be too old, and because `exec` leaves one process.
 *
 * @param nodes packages with Node, of which npm installs the one that fits the machine
 */
export function launcher({ name, commands }: Release, command: string, nodes: readonly string[]): string {
  const runs = (commands[command] ?? []).map(({ word, flags, file }) => {
    const start = ['exec "$node"', ...(flags ? [flags] : []), `"$root/packages/${name}/src/${file}" "$@"`].join(' ')
    return word === undefined ? start : `if [ "\${1-}" = ${word} ]; then\n  shift\n  ${start}\nfi`
  })
  return `#!/bin/sh
# Runs ${command} on the Node that npm installed with it. If npm left that out, the Node of the machine runs it.
set -eu
file=$(readlink -f "$0")
root=\${file%/bin/*}
node=node
# npm installs what a package needs inside of it, or beside it.
for folder in "$root/node_modules" "\${root%/*/*}"; do
  for name in ${nodes.join(' ')}; do
    if [ -x "$folder/$name/bin/node" ]; then node=$folder/$name/bin/node; fi
  done
done
${runs.join('\n')}
`
}
