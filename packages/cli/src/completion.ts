export const shells = ['bash', 'zsh', 'fish'] as const

/** By a command's path, '' for `skerry` itself: what can be written behind it. */
export type Words = Map<string, { subcommands: { name: string; summary: string }[]; options: string[] }>

/** The text of a completion script. It is whole: the shell does not ask `skerry` while one types. */
export function completionFor(shell: (typeof shells)[number], words: Words): string {
  if (shell === 'bash') return bash(words)
  return shell === 'zsh' ? zsh(words) : fish(words)
}

/** `case` arms from a path to its words, longest first. A path also stands for itself with anything behind it. */
function arms(words: Words): string {
  return [...words]
    .sort(([a], [b]) => b.split(' ').length - a.split(' ').length)
    .map(([path, { subcommands, options }]) => {
      const list = [...subcommands.map(({ name }) => name), ...options].join(' ')
      const pattern = path === '' ? `'${path}'` : `'${path}'|'${path} '*`
      return `    ${pattern}) list='${list}' ;;`
    })
    .join('\n')
}

const bash = (words: Words) => `# skerry completion for bash: source <(skerry completion bash)
_skerry() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= list=
  if ((COMP_CWORD > 1)); then path=\${COMP_WORDS[1]}; fi
  if ((COMP_CWORD > 2)); then path="$path \${COMP_WORDS[2]}"; fi
  if ((COMP_CWORD > 3)); then path="$path \${COMP_WORDS[3]}"; fi
  case $path in
${arms(words)}
  esac
  COMPREPLY=($(compgen -W "$list" -- "$current"))
}
complete -o default -F _skerry skerry
`

const zsh = (words: Words) => `#compdef skerry
# skerry completion for zsh: source <(skerry completion zsh)
_skerry() {
  local path_= list=
  if ((CURRENT > 2)); then path_=$words[2]; fi
  if ((CURRENT > 3)); then path_="$path_ $words[3]"; fi
  if ((CURRENT > 4)); then path_="$path_ $words[4]"; fi
  case $path_ in
${arms(words)}
  esac
  compadd -- \${=list} || _files
}
compdef _skerry skerry
`

function fish(words: Words): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = [...words].flatMap(([path, { subcommands, options }]) => {
    const names = subcommands.map(({ name }) => name).join(' ')
    const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
    const inside = path === '' ? '__fish_use_subcommand' : seen.join('; and ')
    const open = names === '' || path === '' ? inside : `${inside}; and not __fish_seen_subcommand_from ${names}`
    return [
      ...subcommands.map(
        ({ name, summary }) => `complete -c skerry -f -n ${quote(open)} -a ${name} -d ${quote(summary)}`,
      ),
      ...options.map((long) => `complete -c skerry -n ${quote(inside)} -l ${long.slice(2)}`),
    ]
  })
  return `# skerry completion for fish: skerry completion fish | source\n${lines.join('\n')}\n`
}
