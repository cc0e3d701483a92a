import type { Json } from '../../../cli/test/hostile/liar.ts'
import { layerOf, resolving, withLayer } from '../answers.ts'
import { type Attack, everywhere } from '../attack.ts'
import type { Stage } from '../stage.ts'

// Lies about values, which the directory does not contain. Each ciphertext is one that a client made, or a changed one.

/** Answers with these secrets in the application’s environment. */
function answerSecrets({ liar, now }: Stage, secrets: readonly Json[]): void {
  liar.lie(resolving, () => withLayer(now, 'app', { ...layerOf(now, 'app'), secrets }))
}

const ciphertextOf = (answer: Json, source: 'group' | 'app' | 'branch'): string =>
  layerOf(answer, source).secrets[0].ciphertext

const answerA = (change: (stage: Stage) => string) => (stage: Stage) =>
  answerSecrets(stage, [{ name: 'A', ciphertext: change(stage) }])

export const values: readonly Attack[] = [
  {
    id: 'renamed-value',
    title: 'The server shows the value of one secret under the name of another secret',
    act: 'run',
    begin: (stage) => {
      const ciphertext = ciphertextOf(stage.now, 'app')
      answerSecrets(stage, [
        { name: 'A', ciphertext },
        { name: 'NEW', ciphertext },
      ])
    },
  },
  {
    id: 'value-of-a-group',
    title: 'The server shows the value of a group as the value of the application',
    act: 'run',
    begin: (stage) => answerSecrets(stage, [{ name: 'B', ciphertext: ciphertextOf(stage.now, 'group') }]),
  },
  {
    id: 'value-of-a-branch',
    title: 'The server shows the value of a branch as the value of its parent',
    act: 'run',
    begin: answerA(({ branchNow }) => ciphertextOf(branchNow, 'branch')),
  },
  {
    id: 'altered-value',
    title: 'The server alters one character of a ciphertext',
    act: 'run',
    begin: answerA(({ now }) => {
      const [prefix, iv, body = ''] = ciphertextOf(now, 'app').split('.')
      return [prefix, iv, (body.startsWith('A') ? 'B' : 'A') + body.slice(1)].join('.')
    }),
  },
  {
    id: 'other-format',
    title:
      'The server says that a ciphertext has a format without authentication, so that the client does not check it',
    act: 'run',
    begin: answerA(({ now }) => ciphertextOf(now, 'app').replace(/^sc1/, 'sc0')),
  },
  {
    id: 'repeated-value',
    title: 'The server sends two values for one secret',
    act: 'run',
    begin: (stage) => {
      const [secret] = layerOf(stage.now, 'app').secrets
      answerSecrets(stage, [secret, { ...secret, ciphertext: stage.ciphertexts[1] }])
    },
  },
  {
    id: 'missing-value',
    title: 'The server leaves out a secret',
    act: 'run',
    remains: everywhere('values-can-be-rolled-back'),
    begin: (stage) => answerSecrets(stage, []),
  },
  {
    id: 'earlier-value',
    title:
      'The server sends an earlier value of a secret. The current key opens this value, and the client has never seen it',
    act: 'run',
    remains: everywhere('values-can-be-rolled-back'),
    begin: answerA(({ ciphertexts }) => ciphertexts[1] as string),
  },
  {
    id: 'replayed-value',
    title:
      'The server sends an earlier value of a secret. A client with memory has seen this value, and after it the newest value',
    act: 'run',
    remains: {
      nothing: 'values-can-be-rolled-back',
      memory: 'values-can-be-rolled-back',
      pin: 'values-can-be-rolled-back',
      both: 'values-can-be-rolled-back',
    },
    remember: answerA(({ ciphertexts }) => ciphertexts[1] as string),
    begin: answerA(({ ciphertexts }) => ciphertexts[1] as string),
  },
]
