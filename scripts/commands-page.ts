import { verbs } from '../packages/cli/src/grammar.ts'
import { buildProgram, everyCommand } from '../packages/cli/src/program.ts'
import { markdownTable } from './markdown-table.ts'

type Command = Awaited<ReturnType<typeof buildProgram>>

/** The page with every command, in the groups and the order of `skerry --help`. */
export async function commandsMarkdown(): Promise<string> {
  const program = await buildProgram([everyCommand])
  const shown = program.commands.filter((one) => !one.summary().startsWith('Replaced'))
  const groups = Map.groupBy(shown, (one) => one.helpGroup().replace(/:$/, ''))
  const sections = [...groups].flatMap(([heading, commands]) => [
    `## ${heading}`,
    markdownTable({ columns: ['Command', 'Effect'], rows: commands.flatMap((one) => rowsOf(one, 'skerry')) }),
  ])
  return `${[head, ...sections, '## Verbs', verbsHead, verbsTable()].join('\n\n')}\n`
}

const head = `# Commands

This page lists every command of \`skerry\`. \`skerry <command> --help\` shows the options and two examples of a command.
[The command line](command-line.md) explains the most important commands, and the [glossary](glossary.md) explains the terms.
\`npm run generate\` makes this page.

Most commands consist of a noun, a verb and the name of an object: \`skerry token create ci\`. A noun without a verb lists
its objects, shows its status, or else shows its help: \`skerry token\`, \`skerry keys\`, \`skerry vault\`. The options \`--app\`, \`--env\`, \`--branch\` and \`--group\` name the environment of a command.

You can also write \`list\` for \`ls\`, \`delete\` or \`remove\` for \`rm\`, \`add\` for \`create\`, and \`update\` for \`edit\`.`

const verbsHead = 'A verb has the same meaning in all commands.'

const verbsTable = () =>
  markdownTable({
    columns: ['Verb', 'Meaning'],
    rows: Object.entries(verbs).map(([verb, meaning]) => [`\`${verb}\``, meaning]),
  })

function rowsOf(command: Command, above: string): string[][] {
  const path = `${above} ${command.name()}`
  const below = command.commands.flatMap((one) => rowsOf(one, path))
  const usage = command.usage().replace('[options]', '').replace('[command]', '').trim()
  const own = [`\`${`${path} ${usage}`.trim()}\``, command.summary() || command.description().split('\n')[0]!]
  return command.commands.length === 0 || command.registeredArguments.length > 0 ? [own, ...below] : below
}
