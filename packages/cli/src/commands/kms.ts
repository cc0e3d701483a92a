import { kmsSpecs } from '@skerry/contract/kms/specs'
import { type Command, Option } from 'commander'
import { inOrg, signedIn } from '../frame.ts'
import { gateway, parseGateway } from '../kms/gateway.ts'
import {
  checkCreate,
  create,
  disable,
  enable,
  grant,
  list,
  parseRevoke,
  remove,
  revoke,
  rotate,
  show,
  trust,
} from '../kms/keys.ts'
import {
  checkDataKey,
  checkSign,
  dataKey,
  decrypt,
  encrypt,
  parseVerify,
  readInput,
  readSealed,
  sign,
  verify,
} from '../kms/use.ts'
import { accepting, confirmable, gather, leaf, overwriting } from '../options.ts'

export function register(command: Command): void {
  registerKeys(command)
  const context = ['--context <text>', 'what it belongs to: it opens only with the same text'] as const
  const file = ['--file <path>', 'what to read; stdin unless given'] as const
  const out = ['--out <path>', 'where to write; stdout unless given'] as const
  const reveal = ['--reveal', 'show it on a terminal'] as const
  overwriting(leaf(command, 'encrypt <key>', 'Encrypt stdin or a file of any size'))
    .option(...file)
    .option(...out)
    .option(...context)
    .addHelpText(
      'after',
      '\nUp to 64 KiB make one line of text, ce1. and more. Longer input makes a binary file (docs/kms.md).',
    )
    .action(signedIn(encrypt, readInput))
  overwriting(leaf(command, 'decrypt <key>', 'Decrypt what `encrypt`, `data-key` or the gateway made'))
    .option(...file)
    .option(...out)
    .option(...context)
    .option(...reveal)
    .addHelpText(
      'after',
      '\nInto a pipe, data flows before the end was checked: act on it only when the command ends with 0, or use --out.',
    )
    .action(signedIn(decrypt, readSealed))
  overwriting(leaf(command, 'data-key <key>', 'Make a key for other programs to encrypt with, and wrap it'))
    .option('--bytes <number>', 'its length', '32')
    .option('--out <path>', 'file for the key; then only the wrapped one is printed')
    .option(...reveal)
    .action(signedIn(dataKey, checkDataKey))
  overwriting(leaf(command, 'sign <key>', 'Sign stdin or a file'))
    .option(...file)
    .option(...out)
    .action(signedIn(sign, checkSign))
  leaf(command, 'verify <signature>', 'Verify the signature in a file, of stdin or another file')
    .option(...file)
    .option('--key <key>', 'the key that it must be of; else the one that it names')
    .action(signedIn(verify, parseVerify))
  leaf(command, 'gateway', 'Answer programs that have an AWS SDK, as AWS KMS would')
    .option('--port <number>', 'where to listen', '4766')
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--key <key>', 'keys that it uses; all that you hold unless given; repeatable', gather)
    .addHelpText('after', gatewayHelp)
    .action(signedIn(gateway, parseGateway))
}

function registerKeys(command: Command): void {
  leaf(command, 'create <name>', 'Make a managed key, which you hold')
    .addOption(new Option('--spec <spec>', 'the algorithm').choices(Object.keys(kmsSpecs)).default('aes-256-gcm'))
    .option('--for-app <slug>', 'application that it belongs to')
    .option('--for-group <slug>', 'group that it belongs to')
    .action(inOrg(create, checkCreate))
  leaf(command, 'list', 'List managed keys').action(signedIn(list))
  leaf(command, 'show <key>', 'One managed key, and who holds which versions').action(signedIn(show))
  accepting(leaf(command, 'grant <key>', 'Give the current version to a person or a token'))
    .option('--user <member>', 'by e-mail address or id')
    .option('--token <token>', 'by id or name')
    .action(signedIn(grant))
  confirmable(leaf(command, 'revoke <key>', 'Take every version from a person or a token'))
    .option('--user <member>', 'by e-mail address or id')
    .option('--token <token>', 'by id or name')
    .action(signedIn(revoke, parseRevoke))
  accepting(confirmable(leaf(command, 'rotate <key>', 'Add a version, for everyone who holds one'))).action(
    signedIn(rotate),
  )
  confirmable(leaf(command, 'disable <key>', 'Stop all use of a key')).action(signedIn(disable))
  leaf(command, 'enable <key>', 'Let a disabled key be used again').action(signedIn(enable))
  confirmable(leaf(command, 'rm <key>', 'Delete a key; what it has encrypted is lost')).action(signedIn(remove))
  confirmable(leaf(command, 'trust <key>', 'Accept a key that the server shows otherwise than before')).action(
    signedIn(trust),
  )
}

const gatewayHelp = `
Programs need two variables: AWS_ENDPOINT_URL_KMS and AWS_SHARED_CREDENTIALS_FILE, which are told at the start. The access
key in that file is the gateway's own; requests that it did not sign are refused. Keys are named by id or alias/<name>.`
