import { signDocument } from '@skerry/crypto/directory/document'
import { nextRoot, parseRoot } from '@skerry/crypto/directory/root'
import type { Attack } from '../attack.ts'
import { nowSeconds, signedDirectory, vouchedEnvironment } from '../signed.ts'
import type { Stage } from '../stage.ts'
import { answerWith } from './directories.ts'

// Lies with a signer who left. Bob is a signer of root 2, and of no other root.

/** The directory as it is, from root 2. */
const fromRoot2 = ({ now, roots }: Stage) => ({ ...now.directory, roots: roots.slice(1) })

const root2 = (stage: Stage) => stage.roots[1] as string

export const signers: readonly Attack[] = [
  {
    id: 'former-signer',
    title:
      'A former signer signs a head that names the newest root. The head contains an environment that the server made',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { answer, ...made } = await vouchedEnvironment(stage)
      const from = stage.now.directory
      answerWith(stage, answer, await signedDirectory({ ...made, from, signer: stage.formerSigner }))
    },
  },
  {
    id: 'former-signer-new-root',
    title: 'A former signer signs a new root that follows the newest root. The new root names only this former signer',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { answer, ...made } = await vouchedEnvironment(stage)
      const roots = [...stage.now.directory.roots, await rootOfFormerSigner(stage, stage.roots.at(-1) as string)]
      answerWith(
        stage,
        answer,
        await signedDirectory({ ...made, from: stage.now.directory, roots, signer: stage.formerSigner }),
      )
    },
  },
  {
    id: 'old-pin',
    title: 'No attack: the client has the pin of an older root',
    act: 'run',
    pinnedRoot: root2,
    isHonest: true,
    begin: () => {},
  },
  {
    id: 'withheld-chain',
    title: 'The client has the pin of an older root. The server sends only the newest root',
    act: 'run',
    pinnedRoot: root2,
    begin: (stage) => answerWith(stage, stage.now, stage.now.directory),
  },
  {
    id: 'withheld-root',
    title:
      'The client has the pin of an older root. The server hides the newest root. A former signer signs a head that names the older root',
    act: 'run',
    pinnedRoot: root2,
    remains: { nothing: 'without-a-pin', pin: 'an-old-pin' },
    begin: async (stage) => {
      const { answer, ...made } = await vouchedEnvironment(stage)
      const roots = stage.roots.slice(1, 2)
      answerWith(
        stage,
        answer,
        await signedDirectory({ ...made, from: stage.now.directory, roots, signer: stage.formerSigner }),
      )
    },
  },
  {
    id: 'forked-root',
    title: 'The client has the pin of an older root. A former signer signs a false root that follows the older root',
    act: 'run',
    pinnedRoot: root2,
    remains: { nothing: 'without-a-pin', pin: 'an-old-pin' },
    begin: async (stage) => {
      const { answer, ...made } = await vouchedEnvironment(stage)
      const roots = [root2(stage), await rootOfFormerSigner(stage, root2(stage))]
      answerWith(
        stage,
        answer,
        await signedDirectory({ ...made, from: stage.now.directory, roots, signer: stage.formerSigner }),
      )
    },
  },
  {
    id: 'forked-root-beside',
    title:
      'The client has the pin of an older root. A former signer signs a false root that follows the older root. The server sends the true root and the false root',
    act: 'run',
    pinnedRoot: root2,
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { answer, ...made } = await vouchedEnvironment(stage)
      const roots = [...stage.roots.slice(1), await rootOfFormerSigner(stage, root2(stage))]
      const from = fromRoot2(stage)
      answerWith(stage, answer, await signedDirectory({ ...made, from, roots, signer: stage.formerSigner }))
    },
  },
]

/** A root after `before`, with Bob as its only signer, who alone has signed it. */
async function rootOfFormerSigner({ formerSigner, roots }: Stage, before: string): Promise<string> {
  const { body } = await parseRoot(roots[1] as string)
  const draft = { ...body, signers: body.signers.filter(({ kid }) => kid === formerSigner.kid), threshold: 1 }
  return signDocument('or1', nextRoot(await parseRoot(before), draft, nowSeconds()), [formerSigner])
}
