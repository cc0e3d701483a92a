import { completionFor, shells } from '../../packages/cli/src/completion.ts'
import { wordsOf } from '../../packages/cli/src/completion-words.ts'
import { environmentHelp } from '../../packages/cli/src/help/environment.ts'
import { examplesOf } from '../../packages/cli/src/help/examples.ts'
import { pathOf, termOf, termOfArgument, usageLine } from '../../packages/cli/src/help/format.ts'
import { buildProgram, everyCommand } from '../../packages/cli/src/program.ts'

type Command = Awaited<ReturnType<typeof buildProgram>>

/** The folder in which each shell looks for the completions of installed programs, below `/usr`. */
const completionFiles = {
  bash: 'share/bash-completion/completions/skerry',
  zsh: 'share/zsh/vendor-completions/_skerry',
  fish: 'share/fish/vendor_completions.d/skerry.fish',
} as const

export const manualFolder = 'share/man/man1'

/**
 * The completions and the man pages of the command: path below `/usr` -> text. All are made from the table of commands.
 *
 * @param created the time of the sources, which the man pages show
 */
export async function manualsOf(created: Date): Promise<Record<string, string>> {
  const program = await buildProgram([everyCommand])
  const words = wordsOf(program)
  const completions = shells.map((shell) => [completionFiles[shell], completionFor(shell, words)])
  const commands = program.createHelp().visibleCommands(program)
  const date = created.toISOString().slice(0, 10)
  const pages = [
    ['skerry', mainPage(program, commands)],
    ...commands.map((command) => [`skerry-${command.name()}`, pageOf(command)]),
  ].map(([name = '', text]) => [`${manualFolder}/${name}.1`, `${head(name, date, program)}\n${text}\n`])
  return Object.fromEntries([...completions, ...pages])
}

const head = (name: string, date: string, program: Command) =>
  `.TH ${name.toUpperCase()} 1 ${date} "Skerry ${program.version()}" "Skerry manual"`

function mainPage(program: Command, commands: readonly Command[]): string {
  const groups = Map.groupBy(commands, (one) => one.helpGroup().replace(/:$/, ''))
  const rows = [...groups].flatMap(([heading, below]) => [
    `.SS ${roff(heading)}`,
    ...below.flatMap((one) => term(`skerry ${one.name()}`, summaryOf(one))),
  ])
  return [
    ...name('skerry', program.description()),
    ...section('SYNOPSIS', [`.B skerry\n.I command\n[options]`]),
    ...section('DESCRIPTION', [
      paragraphs(program.description()),
      `.PP\nEach command has a page of its own: ${bold('man skerry-secrets')} describes ${bold('skerry secrets')}.`,
    ]),
    ...section('COMMANDS', rows),
    ...section('OPTIONS', optionsOf(program)),
    ...examples(program),
    ...environmentHelp.flatMap(verbatimSection),
    ...section('SEE ALSO', [commands.map((one) => `.BR skerry\\-${roff(one.name())} (1)`).join(',\n')]),
  ].join('\n')
}

function pageOf(command: Command): string {
  const leaves = leavesOf(command)
  const isAlone = command.commands.length === 0
  return [
    ...name(`skerry-${command.name()}`, summaryOf(command)),
    ...section('SYNOPSIS', [leaves.map((one) => bold(usageLine(one))).join('\n.br\n')]),
    ...section('DESCRIPTION', isAlone ? described(command) : [paragraphs(command.description())]),
    ...(isAlone ? section('OPTIONS', optionsOf(command)) : section('COMMANDS', leaves.flatMap(leafSection))),
    ...(isAlone ? [] : section('SHARED OPTIONS', sharedOf(leaves[0]!))),
    ...examples(command),
    ...section('SEE ALSO', ['.BR skerry (1)']),
  ].join('\n')
}

/** The commands that do something, at any depth. A noun that lists when it stands alone is shown by its verbs. */
const leavesOf = (command: Command): Command[] => {
  const below = command.createHelp().visibleCommands(command)
  return below.length === 0 ? [command] : below.flatMap(leavesOf)
}

const leafSection = (command: Command): string[] => [
  `.SS ${roff(usageLine(command))}`,
  ...described(command),
  ...optionsOf(command).filter((line) => !sharedOf(command).includes(line)),
  ...exampleLines(command),
]

/** The description of a command and its arguments. */
const described = (command: Command): string[] => [
  paragraphs(command.description()),
  ...command
    .createHelp()
    .visibleArguments(command)
    .map(termOfArgument)
    .flatMap(([one, text]) => term(one, text)),
]

const optionsOf = (command: Command): string[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .map(termOf)
    .flatMap(([flags, text]) => term(flags, text))

const sharedOf = (command: Command): string[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .filter(({ helpGroupHeading }) => helpGroupHeading?.startsWith('Shared'))
    .map(termOf)
    .flatMap(([flags, text]) => term(flags, text))

const examples = (command: Command) => section('EXAMPLES', exampleLines(command))

const exampleLines = (command: Command): string[] =>
  examplesOf(pathOf(command).join(' ')).map(([line, what]) => `.TP\n${roff(what)}:\n${bold(line)}`)

/** A part of a help text whose first line is its heading. */
function verbatimSection(text: string): string[] {
  const [heading = '', ...lines] = text.trim().split('\n')
  const body = lines.map((line) => roff(line) || '\\&').join('\n')
  return section(heading.replace(/:$/, '').toUpperCase(), [`.nf\n${body}\n.fi`])
}

const name = (page: string, summary: string) => section('NAME', [`${roff(page)} \\- ${roff(firstLine(summary))}`])
const section = (heading: string, lines: readonly string[]) => (lines.length === 0 ? [] : [`.SH ${heading}`, ...lines])
const term = (what: string, text: string) => [`.TP\n${bold(what)}\n${roff(text)}`]
const bold = (text: string) => `\\fB${roff(text)}\\fR`
const firstLine = (text: string) => text.split('\n')[0]!
const summaryOf = (command: Command) => command.summary() || firstLine(command.description())

const paragraphs = (text: string) => text.split('\n\n').map(roff).join('\n.PP\n')

/** Writes a text so that roff prints it as it is. A dot or an apostrophe at the start of a line would be a request. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('’', "'")
    .replace(/^(?=[.'])/gm, '\\&')
