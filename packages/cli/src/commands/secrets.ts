import { type Command, Option } from 'commander'
import { exportFormats } from '../formats/names.ts'
import { atPlace, signedIn } from '../frame.ts'
import { addressed, confirmable, gatherGroups, leaf, noted, overwriting, reading } from '../options.ts'
import { checkDiff, diff } from '../secrets/diff.ts'
import { exportValues, parseExportValues } from '../secrets/export.ts'
import { generate, parseGenerate } from '../secrets/generate.ts'
import { importFile, parseImportFile } from '../secrets/import.ts'
import { list, parseList } from '../secrets/list.ts'
import { checkGet, get, history, parseHistory } from '../secrets/read.ts'
import { parseSubstitute, substitute } from '../secrets/substitute.ts'
import { parseRemove, parseRestore, parseSet, remove, restore, set } from '../secrets/write.ts'
import { selective } from '../selection.ts'

const expectedVersion = [
  '--expected-version <version>',
  'refuse unless this is the current version; 0: must not exist',
] as const
const withGroups = ['--with <group=env>', 'take a group at another environment; repeatable', gatherGroups] as const
const views = (command: Command) =>
  command
    .option('--stored', 'only the texts that this environment stores, without groups, parent and expanded references')
    .option('--merged', 'with groups and parent, but references as text')
    .addOption(new Option('--expand', 'the default').hideHelp())
    .option(...withGroups)

export function register(command: Command): void {
  registerReads(command)
  registerWrites(command)
  registerFiles(command)
}

function registerReads(command: Command): void {
  addressed(leaf(command, 'list', 'Names of the secrets that a program gets, and where each comes from'))
    .option('--reveal', 'show values')
    .option('--stored', 'only the secrets that this environment stores, without groups and parent')
    .option(...withGroups)
    .action(atPlace(list, parseList))
  addressed(leaf(command, 'get <NAME>', 'One value, references expanded; masked on a terminal'))
    .option('--reveal', 'show the value on a terminal')
    .option('--stored', 'the text as this environment stores it, without groups, parent and references')
    .option(...withGroups)
    .action(atPlace(get, checkGet))
  addressed(leaf(command, 'history <NAME>', 'Versions of a secret, newest first'))
    .option('--reveal', 'show values')
    .option('--limit <number>', '50 unless given')
    .action(atPlace(history, parseHistory))
  views(leaf(command, 'diff <left> <right>', 'Compare the values that programs get in two environments'))
    .option('--app <slug>', 'application that both are of, where they name none')
    .option('--reveal', 'show values')
    .option('--exit-code', 'exit with 1 when they differ')
    .addHelpText('after', '\nAn environment is written env, app/env, app/env@branch or group:env.')
    .action(signedIn(diff, checkDiff))
}

function registerWrites(command: Command): void {
  noted(
    addressed(
      leaf(command, 'set <NAME> [value...]', 'Write a value from stdin, --file, --random or a hidden question'),
    ),
  )
    .usage('[options] <NAME>')
    .option('--file <path>', 'read the value from a file; - is stdin')
    .addOption(new Option('--random <length>', 'make a value of letters and digits').conflicts('file'))
    .option('--trim', 'take one line break off the end')
    .option('--empty', 'allow an empty value')
    .option('--literal', 'keep ${NAME} as text: store it escaped, as $${NAME}')
    .option(...expectedVersion)
    .addHelpText(
      'after',
      '\nThe value is stored byte for byte, and never taken from the command line. ${NAME} in it is a reference.',
    )
    .action(atPlace(set, parseSet))
  noted(addressed(leaf(command, 'generate <NAMES...>', 'Write random values, which nobody has to see')))
    .option('--length <characters>', 'letters and digits', '32')
    .option('--overwrite', 'replace values that are there')
    .action(atPlace(generate, parseGenerate))
  noted(confirmable(addressed(leaf(command, 'rm <NAMES...>', 'Delete secrets with their history'))))
    .option(...expectedVersion)
    .action(atPlace(remove, parseRemove))
  noted(addressed(leaf(command, 'restore <NAME> <version>', 'Make an earlier version current again, as a new version')))
    .option(...expectedVersion)
    .action(atPlace(restore, parseRestore))
}

function registerFiles(command: Command): void {
  noted(reading(addressed(leaf(command, 'import <file>', 'Write the values of a .env file or another; - is stdin'))))
    .option('--dry-run', 'show what would be written')
    .option('--overwrite', 'replace values that differ')
    .option('--keep', 'leave values that differ')
    .action(atPlace(importFile, parseImportFile))
  overwriting(selective(views(addressed(leaf(command, 'export [file]', 'The values that a program gets, as text')))))
    .usage('[options]')
    .addOption(new Option('--format <format>', 'dotenv unless given').choices([...exportFormats]))
    .option('--out <file>', 'write to a file that only you can read; - is stdout')
    .option('--reveal', 'allow values on a terminal')
    .addHelpText(
      'after',
      '\nAn import of this text stores the values of groups and of the parent here, too. Use --stored to edit and import.',
    )
    .action(atPlace(exportValues, parseExportValues))
  overwriting(addressed(leaf(command, 'substitute <template>', 'Fill ${NAME} in a text with values; - is stdin')))
    .option('--liquid', 'the text is a Liquid template, with conditions, loops and escapes')
    .option('--out <file>', 'write to a file that only you can read; - is stdout')
    .option('--reveal', 'allow values on a terminal')
    .option(...withGroups)
    .addHelpText('after', '\nA name without a value is refused. $${ stands for ${.')
    .addHelpText(
      'after',
      'With --liquid, write {{ NAME | json }}; escapes are json, yaml, sh, url, base64 and escape (HTML, XML).',
    )
    .action(atPlace(substitute, parseSubstitute))
}
