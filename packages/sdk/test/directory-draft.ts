import { environmentKeyCommitment, managedKeyCommitment } from '@skerry/crypto/directory/commitments'
import { DirectoryDraft } from '../src/directory/draft.ts'
import { ada, type DirectoryServer, key, kids, orgId } from './directory-server.ts'

export const idOf = (prefix: string, digit: number) => `${prefix}_${String(digit).padStart(22, '0')}`

/** The changes that Ada signs. She vouches for nobody. */
export const draftOf = (scene: DirectoryServer): DirectoryDraft =>
  new DirectoryDraft(scene.start, {
    client: scene.client,
    orgId,
    signer: scene.signer,
    own: `person/${ada}`,
    ownKid: kids.ada,
    commitments: {
      environment: (id) => environmentKeyCommitment(id, key),
      managed: (id, version) => managedKeyCommitment(id, version, key),
    },
    vouch: () => false,
  })
