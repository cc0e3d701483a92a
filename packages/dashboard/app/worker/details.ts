import { type DescribedSecret, openDetails, sealDetails } from '@skerry/crypto/details'
import { dekOf } from './deks.ts'

/** A secret's name in an environment, and this person's wrapped copy of the environment's key. */
interface Place {
  wrappedDek: string
  environmentId: string
  name: string
}

export const detailsOperations = {
  openDetails: async ({ wrappedDek, environmentId, name, sealed }: Place & { sealed: string }) =>
    openDetails(sealed, await dekOf(wrappedDek), environmentId, name),

  sealDetails: async ({ wrappedDek, environmentId, name, ...text }: Place & DescribedSecret) =>
    sealDetails(text, await dekOf(wrappedDek), environmentId, name),
}
