export const shells = ['bash', 'zsh', 'fish'] as const

/** Options whose values the server or this machine knows, with the kind of each value. */
export const KnownWords = {
  '--app': 'app',
  '--group': 'group',
  '--env': 'environment',
  '--branch': 'branch',
  '--only': 'secret',
  '--except': 'secret',
  '--profile': 'profile',
} as const

export type Kind = (typeof KnownWords)[keyof typeof KnownWords]

/** The words that can follow a command, by the command's path; '' stands for `skerry` itself. */
export type Words = Map<
  string,
  {
    subcommands: { name: string; summary: string }[]
    options: string[]
    /** The values of each option that accepts only a few. */
    choices: Record<string, readonly string[]>
    /** The kind of its arguments, if they are names that can be completed. */
    takes: Kind | undefined
    /** The values of its first argument, if it accepts only a few. */
    values: readonly string[]
  }
>

/** Returns a completion script. While the user types, the shell calls `skerry` only for names. */
export function completionFor(shell: (typeof shells)[number], words: Words): string {
  if (shell === 'bash') return bash(words)
  return shell === 'zsh' ? zsh(words) : fish(words)
}

/** Returns `case` arms that map a path and the word before, which is an option, to the values of that option. */
function valueArms(words: Words, asked: string): string {
  const fixed = [...words].flatMap(([path, { choices }]) =>
    Object.entries(choices).map(([long, values]) => `    '${path}'*' ${long}') list='${values.join(' ')}' ;;`),
  )
  const named = Object.entries(KnownWords).map(
    ([long, kind]) => `    *' ${long}') list=$(skerry completion ${kind} -- ${asked} 2>/dev/null) ;;`,
  )
  return [...fixed, ...named].join('\n')
}

/**
 * Returns `case` arms that map a path to the names that it takes as arguments. `isOption` tests the current word. If there
 * are names, options are offered only after a `-`, because they would hide the names.
 */
function nameArms(words: Words, isOption: string, asked: string): string {
  const kinds = new Set([...words.values()].map(({ takes }) => takes).filter((kind) => kind !== undefined))
  const arm = (kind: Kind) => {
    const paths = [...words].flatMap(([path, { takes }]) => (takes === kind ? [`'${path}'*`] : [])).join('|')
    return `    ${paths}) ${isOption} || { names=$(skerry completion ${kind} -- ${asked} 2>/dev/null); list=\${names:-$list}; } ;;`
  }
  return [...kinds].map(arm).join('\n')
}

/**
 * Returns `case` arms that map a path to its words, longest path first. A path also matches with more words after it.
 */
function arms(words: Words): string {
  return [...words]
    .sort(([a], [b]) => b.split(' ').length - a.split(' ').length)
    .map(([path, { subcommands, values, options }]) => {
      const list = [...subcommands.map(({ name }) => name), ...values, ...options].join(' ')
      const pattern = path === '' ? `'${path}'` : `'${path}'|'${path} '*`
      return `    ${pattern}) list='${list}' ;;`
    })
    .join('\n')
}

const bash = (words: Words) => `# skerry completion for bash: source <(skerry completion bash)
_skerry() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= list= names=
  if ((COMP_CWORD > 1)); then path=\${COMP_WORDS[1]}; fi
  if ((COMP_CWORD > 2)); then path="$path \${COMP_WORDS[2]}"; fi
  if ((COMP_CWORD > 3)); then path="$path \${COMP_WORDS[3]}"; fi
  case $path in
${arms(words)}
  esac
  local -a typed=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  case $path in
${nameArms(words, '[[ $current == -* ]]', '"${typed[@]}"')}
  esac
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${valueArms(words, '"${typed[@]}"')}
  esac
  COMPREPLY=($(compgen -W "$list" -- "$current"))
}
complete -o default -F _skerry skerry
`

const zsh = (words: Words) => `#compdef skerry
# skerry completion for zsh: source <(skerry completion zsh)
_skerry() {
  local path_= list= names=
  if ((CURRENT > 2)); then path_=$words[2]; fi
  if ((CURRENT > 3)); then path_="$path_ $words[3]"; fi
  if ((CURRENT > 4)); then path_="$path_ $words[4]"; fi
  case $path_ in
${arms(words)}
  esac
  local -a typed=("\${(@)words[2,CURRENT-1]}")
  case $path_ in
${nameArms(words, '[[ $words[CURRENT] == -* ]]', '"${typed[@]}"')}
  esac
  case "$path_ $words[CURRENT-1]" in
${valueArms(words, '"${typed[@]}"')}
  esac
  compadd -- \${=list} || _files
}
# In a folder of $fpath, this file is the body of the function, and zsh runs it at the first completion.
if [[ $funcstack[1] == _skerry ]]; then _skerry "$@"; else compdef _skerry skerry; fi
`

function fish(words: Words): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const isName = "not string match -q -- '-*' (commandline -ct)"
  const asked = (kind: string) => `'(skerry completion ${kind} -- (commandline -opc)[2..] 2>/dev/null)'`
  const lines = [...words].flatMap(([path, { subcommands, options, choices, values, takes }]) => {
    const names = subcommands.map(({ name }) => name).join(' ')
    const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
    const inside = path === '' ? '__fish_use_subcommand' : seen.join('; and ')
    const open = names === '' || path === '' ? inside : `${inside}; and not __fish_seen_subcommand_from ${names}`
    return [
      ...subcommands.map(
        ({ name, summary }) => `complete -c skerry -f -n ${quote(open)} -a ${name} -d ${quote(summary)}`,
      ),
      ...options.map((long) => {
        const kind = Object.entries(KnownWords).find(([name]) => name === long)?.[1]
        const offered = choices[long] ? quote(choices[long].join(' ')) : kind && asked(kind)
        return `complete -c skerry -n ${quote(inside)} -l ${long.slice(2)}${offered === undefined ? '' : ` -xa ${offered}`}`
      }),
      ...(takes ? [`complete -c skerry -f -n ${quote(`${inside}; and ${isName}`)} -a ${asked(takes)}`] : []),
      ...(values.length > 0 ? [`complete -c skerry -f -n ${quote(inside)} -a ${quote(values.join(' '))}`] : []),
    ]
  })
  return `# skerry completion for fish: skerry completion fish | source\n${lines.join('\n')}\n`
}
