import type { Command } from 'commander'
import { inOrg } from '../frame.ts'
import { accepting, confirmable, continuing, explained, leaf, noun } from '../options.ts'
import { approve, readDocument } from '../trust/change-root.ts'
import { init } from '../trust/init.ts'
import { parseGiven, pin } from '../trust/pin.ts'
import { createRescue, parseRescue, useRescue } from '../trust/rescue.ts'
import { sign } from '../trust/sign.ts'
import { addSigner, editSigners, listSigners, offer, parseAdd, parseThreshold, removeSigner } from '../trust/signers.ts'
import { status, verify } from '../trust/status.ts'

export function register(command: Command): void {
  explained(
    command,
    'Signers vouch for keys of people and tokens, for environments and for their readers. Other machines verify the signatures, so that they need not believe the server. A machine begins with a pin, which it gets from a person.',
  )
  leaf(command, 'status', 'Show the signers of the signed directory, and unsigned changes')
    .alias('show')
    .action(inOrg(status))
  accepting(confirmable(leaf(command, 'init', 'Start the signed directory, with you as its first signer'))).action(
    inOrg(init),
  )
  explained(
    continuing(
      accepting(
        confirmable(
          leaf(command, 'sign [names...]', 'Sign changes of the signed directory that have no signature yet'),
        ),
      ),
    ),
    'Each line is what the server claims. Sign it only if somebody on your team made this change. The name `recovery` means the recovery key.',
  ).action(inOrg(sign))
  leaf(command, 'verify', 'Verify the signatures, and compare them with the server’s answers').action(inOrg(verify))
  confirmable(leaf(command, 'pin [pin]', 'Print the pin for other machines, or trust a pin that you got from a person'))
    .option('--write', 'also write the pin into skerry.json')
    .option(
      '--restored',
      'an older backup of the server was restored: forget the newer directory that this machine saw, and write the pin into skerry.json if it has one',
    )
    .action(inOrg(pin, parseGiven))
  continuing(
    confirmable(
      leaf(
        command,
        'approve <file>',
        'Add your signature to a change of the signers or the recovery key; use - for stdin',
      ),
    ),
  ).action(inOrg(approve, readDocument))
  registerSigners(noun(command, 'signers', 'People and tokens that sign'))
  registerRescue(noun(command, 'rescue', 'Codes that replace lost signers'))
}

function registerSigners(signers: Command): void {
  leaf(signers, 'ls', 'List the signers').action(inOrg(listSigners))
  leaf(signers, 'offer', 'Print your signing key, for a signer who adds you').action(inOrg(offer))
  continuing(
    confirmable(leaf(signers, 'create <member>', 'Let a person sign, after you compared the words of their key')),
  )
    .option('--key <key>', 'the text that `skerry trust signers offer` prints for this person')
    .option('--threshold <number>', 'how many people must agree to a change of the signers')
    .action(inOrg(addSigner, parseAdd))
  continuing(confirmable(leaf(signers, 'rm <member>', 'Remove a person from the signers')))
    .option('--threshold <number>', 'how many people must agree to a change of the signers')
    .action(inOrg(removeSigner, parseThreshold))
  continuing(leaf(signers, 'edit', 'Change how many signers must sign a change of the signers'))
    .option('--threshold <number>', 'the number of people, from 1 to 8')
    .action(inOrg(editSigners, parseThreshold))
}

function registerRescue(rescue: Command): void {
  continuing(confirmable(leaf(rescue, 'setup', 'Make rescue codes, each of which is shown once')))
    .option('--codes <number>', 'how many codes are made', '3')
    .option('--threshold <number>', 'how many codes are needed', '2')
    .action(inOrg(createRescue, parseRescue))
  explained(
    continuing(confirmable(leaf(rescue, 'use', 'Make yourself the only signer, with rescue codes'))),
    'For an organization whose signers are lost. The codes are read from stdin, one a line, or from hidden prompts.',
  ).action(inOrg(useRescue))
}
