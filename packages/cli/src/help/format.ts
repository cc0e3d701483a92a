import type { Argument, Command, Help, HelpConfiguration, Option } from 'commander'
import { documents } from './documents.ts'
import { environmentHelp } from './environment.ts'
import { examplesOf } from './examples.ts'
import { pageAddress } from './page-address.ts'

/**
 * The layout of all help texts: usage, description, arguments, commands, options, examples, the document to read, and
 * last the options that all commands share.
 */
export const helpFormat: HelpConfiguration = {
  subcommandTerm: (command) => `${command.name()} ${usageOf(command)}`.trim(),
  subcommandDescription: (command) => command.summary() || command.description(),
  formatHelp,
}

/** The arguments of a command, without `[options]`, which every command takes. */
const usageOf = (command: Command) => command.usage().replace('[options]', '').replace('[command]', '<command>').trim()

function formatHelp(command: Command, help: Help): string {
  const path = pathOf(command)
  const width = help.padWidth(command, help)
  const rows = (of: readonly (readonly [string, string])[]) =>
    of.map(([term, text]) => help.formatItem(term, width, text, help))
  const options = groupBy(help.visibleOptions(command), (option) => option.helpGroupHeading ?? 'Options:')
  const shared = options.filter(([heading]) => heading.startsWith('Shared'))
  const sections = [
    [`Usage: ${usageLine(command)}`],
    [help.boxWrap(command.description(), help.helpWidth ?? 100)],
    section('Arguments:', rows(help.visibleArguments(command).map(termOfArgument))),
    ...groupBy(help.visibleCommands(command), (one) => one.helpGroup() || 'Commands:').map(([heading, commands]) =>
      section(heading, rows(commands.map((one) => [help.subcommandTerm(one), help.subcommandDescription(one)]))),
    ),
    ...options.filter((one) => !shared.includes(one)).map(([heading, of]) => section(heading, rows(of.map(termOf)))),
    section(
      'Examples:',
      examplesOf(path.join(' ')).flatMap(([line, what]) => [`  # ${what}`, `  ${line}`]),
    ),
    path.length === 0 ? environmentHelp : [],
    ...shared.map(([heading, of]) => section(heading, rows(of.map(termOf)))),
    [closing(path)],
  ]
  const termOfHelp = sections.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'))
  return `${termOfHelp.join('\n\n')}\n`
}

/** Options go last, but before a program that is started. */
export function usageLine(command: Command): string {
  const usage = usageOf(command)
  const order = usage.includes('-- ') || command.name() === 'ssh' ? ['[options]', usage] : [usage, '[options]']
  return ['skerry', ...pathOf(command), ...order].filter(Boolean).join(' ')
}

const section = (heading: string, lines: readonly string[]) => (lines.length === 0 ? [] : [heading, ...lines])

export const termOf = (option: Option): [string, string] => [option.flags, describe(option)]
export const termOfArgument = (argument: Argument): [string, string] => [argument.name(), argument.description]

/** Choices and defaults are part of the text, in words. */
function describe({ description, argChoices, defaultValue }: Option): string {
  const facts = [
    argChoices === undefined ? '' : `one of ${argChoices.join(', ')}`,
    typeof defaultValue === 'string' ? `default: ${defaultValue}` : '',
  ].filter(Boolean)
  return facts.length === 0 ? description : `${description} (${facts.join('; ')})`
}

function closing(path: string[]): string {
  const read = `Read more at ${pageAddress(documentOf(path))}`
  if (path.length > 0) return read
  return `\`skerry <command> --help\` explains a command. \`skerry help <task>\` finds one: skerry help rotate a password.\n${read}`
}

/** The names of a command and those above it, without `skerry`. */
export function pathOf(command: Command): string[] {
  const names: string[] = []
  for (let one: Command | null = command; one?.parent; one = one.parent) names.unshift(one.name())
  return names
}

function groupBy<T>(all: readonly T[], headingOf: (one: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const one of all) groups.set(headingOf(one), [...(groups.get(headingOf(one)) ?? []), one])
  return [...groups]
}

/** The document of a command, or of the nearest one above it. The page on the command line explains `skerry` itself. */
function documentOf(path: readonly string[]): string {
  if (path.length === 0) return 'docs/command-line.md'
  const name = path.join(' ')
  return Object.hasOwn(documents, name) ? documents[name]! : documentOf(path.slice(0, -1))
}
