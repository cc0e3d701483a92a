import { type DescribedSecret, openDetails, sealDetails } from '@skerry/crypto/details'
import { sealingDekOf } from './committed.ts'
import { dekOf } from './deks.ts'
import type { Place } from './place.ts'

export const detailsOperations = {
  openDetails: async ({ wrappedDek, environmentId, name, sealed }: Place & { sealed: string }) =>
    openDetails(sealed, await dekOf(wrappedDek), environmentId, name),

  sealDetails: async ({ wrappedDek, environmentId, name, ...text }: Place & DescribedSecret) =>
    sealDetails(text, await sealingDekOf({ wrappedDek, environmentId }), environmentId, name),
}
