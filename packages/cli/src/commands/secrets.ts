import { type Command, Option } from 'commander'
import { exportFormats } from '../formats/names.ts'
import { atPlace, signedIn } from '../frame.ts'
import {
  addressed,
  confirmable,
  explained,
  gather,
  gatherGroups,
  leaf,
  overwriting,
  queueing,
  reading,
} from '../options.ts'
import { copy, parseCopy } from '../secrets/copy.ts'
import { deleted } from '../secrets/deleted.ts'
import { describe, parseDescribe } from '../secrets/describe.ts'
import { checkDiff, diff } from '../secrets/diff.ts'
import { edit, parseEdit } from '../secrets/edit.ts'
import { exportValues, parseExportValues } from '../secrets/export.ts'
import { generate, parseGenerate } from '../secrets/generate.ts'
import { importFile, parseImportFile } from '../secrets/import.ts'
import { list, parseList } from '../secrets/list.ts'
import { override, overrides, parseOverride } from '../secrets/override.ts'
import { checkGet, get, history, parseHistory } from '../secrets/read.ts'
import { parseRemove, remove } from '../secrets/remove.ts'
import { parseRename, rename } from '../secrets/rename.ts'
import { parseRestore, restore } from '../secrets/restore.ts'
import { parseSubstitute, substitute } from '../secrets/substitute.ts'
import { parseSet, set } from '../secrets/write.ts'
import { selective } from '../selection.ts'

const expectedVersion = [
  '--expected-version <version>',
  'write only if this is the current version; 0 means that the secret must not exist',
] as const
const withGroups = ['--with <group=env>', 'use another environment of a group; repeatable', gatherGroups] as const
const views = (command: Command) =>
  command
    .option('--stored', 'only stored texts of this environment, without groups, parent and expanded references')
    .option('--merged', 'with groups and parent, but without expanding references')
    .addOption(new Option('--expand', 'the default').hideHelp())
    .option(...withGroups)

export function register(command: Command): void {
  registerReads(command)
  registerWrites(command)
  registerOverrides(command)
  registerFiles(command)
}

function registerReads(command: Command): void {
  addressed(leaf(command, 'ls', 'List the secrets that a program gets, and the source of each value'))
    .option('--reveal', 'show values')
    .option('--stored', 'only secrets of this environment, without groups and parent')
    .option(...withGroups)
    .action(atPlace(list, parseList))
  addressed(leaf(command, 'get <NAME>', 'Print one value; a terminal shows it masked'))
    .option('--reveal', 'show the value on a terminal')
    .option('--stored', 'print the stored text, without groups, parent and expanded references')
    .option(...withGroups)
    .action(atPlace(get, checkGet))
  addressed(leaf(command, 'history <NAME>', 'List the versions of a secret, newest first'))
    .option('--reveal', 'show values')
    .option('--limit <number>', 'at most this many (default: 50)')
    .action(atPlace(history, parseHistory))
  explained(
    views(leaf(command, 'diff [left] [right]', 'Compare the values that programs get in two environments')),
    'Write an environment as env, app/env, app/env@branch or group:env.',
  )
    .option('--app <slug>', 'application of both, unless they name one')
    .option('--reveal', 'show values')
    .option('--exit-code', 'exit with 1 if they differ')
    .action(signedIn(diff, checkDiff))
}

function registerWrites(command: Command): void {
  explained(
    queueing(addressed(leaf(command, 'set <NAME> [value...]', 'Write a value from stdin, a file or a hidden prompt'))),
    'The value is stored byte for byte. It is never taken from the command line, where other users could see it. ${NAME} in it is a reference.',
  )
    .usage('<NAME>')
    .option('--file <path>', 'file with the value; use - for stdin')
    .addOption(new Option('--random <length>', 'make a random value of letters and digits').conflicts('file'))
    .option('--trim', 'remove one line break from the end')
    .option('--empty', 'allow an empty value')
    .option('--dry-run', 'check everything and write nothing')
    .option('--literal', 'keep ${NAME} as text instead of a reference')
    .option(...expectedVersion)
    .action(atPlace(set, parseSet))
  explained(
    queueing(addressed(leaf(command, 'edit [NAMES...]', 'Edit secrets in your editor'))),
    'The editor in VISUAL or EDITOR opens a private file in memory, which is deleted when the editor ends.',
  )
    .option('--dry-run', 'show what would be written, and write nothing')
    .action(atPlace(edit, parseEdit))
  explained(
    queueing(addressed(leaf(command, 'copy [NAMES...]', 'Copy secrets to another environment'))).alias('cp'),
    '--app, --env, --branch and --group name the source. References stay references.',
  )
    .requiredOption('--to <env>', 'target: env, app/env, app/env@branch or group:env')
    .option('--all', 'copy every secret of the environment')
    .option('--except <NAME,...>', 'with --all: all secrets but these; repeatable', gather)
    .option('--dry-run', 'show what would be written, and write nothing')
    .option('--overwrite', 'replace values that differ')
    .option('--keep', 'keep existing values that differ')
    .action(atPlace(copy, parseCopy))
  queueing(addressed(leaf(command, 'generate <NAMES...>', 'Write random values that nobody sees')))
    .option('--length <number>', 'characters of each value, which are letters and digits', '32')
    .option('--overwrite', 'replace existing values')
    .action(atPlace(generate, parseGenerate))
  explained(
    queueing(
      confirmable(addressed(leaf(command, 'rm <NAMES...>', 'Delete secrets; you can restore them for 30 days'))),
    ),
    'For 30 days `skerry secrets restore <NAME>` brings a deleted secret back.',
  )
    .option(...expectedVersion)
    .option('--dry-run', 'check everything and delete nothing')
    .option('--purge', 'delete for good, and also delete the deleted secrets of this name')
    .action(atPlace(remove, parseRemove))
  explained(
    addressed(leaf(command, 'rename <NAME> <NEW_NAME>', 'Rename a secret; it keeps its versions and its description')),
    'Programs get the value under the new name alone. The command lists references to the old name, and does not change them.',
  )
    .alias('mv')
    .option(...expectedVersion)
    .option('--dry-run', 'check everything and rename nothing')
    .action(atPlace(rename, parseRename))
  explained(
    queueing(addressed(leaf(command, 'restore <NAME> [version]', 'Restore an earlier version, or a deleted secret'))),
    'With a version, the command writes the value of this version again, as a new version. Without a version, the command restores a deleted secret with its history.',
  )
    .option(...expectedVersion)
    .option('--deleted <id>', 'which deleted secret, if several had the name (default: the one deleted last)')
    .action(atPlace(restore, parseRestore))
  explained(
    addressed(leaf(command, 'describe <NAME>', 'Store the description and other details of a secret, or show them')),
    'The description and the tags are encrypted. The server can read the other details, and mails the owner two weeks before the date.',
  )
    .option('--description <text>', 'purpose of the secret, at most 500 characters; - is stdin, empty clears it')
    .option('--tag <tag,...>', 'tags, in place of all earlier tags; repeatable', gather)
    .option('--no-tags', 'remove all tags')
    .option('--owner <member>', 'member who gets a mail before the secret expires')
    .option('--no-owner', 'remove the owner')
    .option('--expires <date>', 'when the secret must be replaced: 2026-12-08, or 90d from now')
    .option('--no-expires', 'remove the date')
    .option('--not-needed', 'note that it is missing in this environment on purpose')
    .option('--needed', 'remove the note of --not-needed')
    .action(atPlace(describe, parseDescribe))
  addressed(leaf(command, 'deleted', 'List the deleted secrets, and until when each can be restored')).action(
    atPlace(deleted),
  )
}

function registerOverrides(command: Command): void {
  explained(
    addressed(
      leaf(command, 'override <NAME> [value...]', 'Write a value for yourself alone, instead of the shared value'),
    ),
    'Only you can read it. `skerry run`, `skerry shell` and `skerry secrets get` use it, also on branches of the environment. Everything that writes values for others leaves it out.',
  )
    .usage('<NAME>')
    .option('--file <path>', 'file with the value; use - for stdin')
    .option('--trim', 'remove one line break from the end')
    .option('--empty', 'allow an empty value')
    .option('--literal', 'keep ${NAME} as text instead of a reference')
    .option('--remove', 'remove your value; programs then get the shared value')
    .addOption(new Option('--rm', 'the same as --remove').implies({ remove: true }).hideHelp())
    .action(atPlace(override, parseOverride))
  addressed(leaf(command, 'overrides', 'List the values that you stored for yourself alone'))
    .option('--reveal', 'show values')
    .action(atPlace(overrides))
}

function registerFiles(command: Command): void {
  queueing(
    reading(
      addressed(leaf(command, 'import <file>', 'Write the values of a .env file or another format; use - for stdin')),
    ),
  )
    .option('--dry-run', 'show what would be written, and write nothing')
    .option('--overwrite', 'replace values that differ')
    .option('--keep', 'keep existing values that differ')
    .action(atPlace(importFile, parseImportFile))
  explained(
    overwriting(
      selective(
        views(addressed(leaf(command, 'export [file]', 'Write the values that a program gets to stdout or a file'))),
      ),
    ),
    'If you import the result, it also stores the values of groups and of the parent. Use --stored to edit and import.',
  )
    .usage('[options]')
    .addOption(new Option('--format <format>', 'output format (default: dotenv)').choices([...exportFormats]))
    .option('--out <path>', 'write to a file that only you can read; use - for stdout')
    .option('--reveal', 'allow values on a terminal')
    .action(atPlace(exportValues, parseExportValues))
  explained(
    overwriting(
      addressed(leaf(command, 'substitute <template>', 'Replace ${NAME} in a template with values; use - for stdin')),
    ),
    'A name without a value is refused. $${ stands for ${. With --liquid, write {{ NAME | json }}. Escapes are json, yaml, sh, url, base64 and escape (HTML, XML).',
  )
    .option('--liquid', 'the file is a Liquid template, with conditions, loops and escapes')
    .option('--except <NAME,...>', 'keep ${NAME} as text for these names; repeatable', gather)
    .option('--out <path>', 'write to a file that only you can read; use - for stdout')
    .option('--reveal', 'allow values on a terminal')
    .option(...withGroups)
    .action(atPlace(substitute, parseSubstitute))
}
