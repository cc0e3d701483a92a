import type { Answer } from '@skerry/contract/endpoint'
import type { envs } from '@skerry/contract/envs/endpoints'
import { isReader, readerWords } from '@skerry/contract/grants/readers'

export type Grantee = Answer<typeof envs.grantees>['grantees'][number]

/** Returns the name of a reader. */
export const nameOfReader = (one: Grantee, nameOf: (id: string) => string): string =>
  one.name ?? (isReader(one) ? `The ${readerWords[one.principalType]}, which can read it` : nameOf(one.principalId))
