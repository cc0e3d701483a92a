import type { Sql } from '../../db/database.ts'
import { type LayerRow, listLayers, type Reader } from './store.ts'

export type ReaderLayer = Pick<LayerRow, 'source' | 'environmentId' | 'slug' | 'groupSlug' | 'wrappedDek' | 'secrets'>

/** Returns the layers of an environment with this reader’s keys, as resolve would; none if the environment was deleted. */
export const layersFor = (db: Sql, reader: Reader, environmentId: string, now: string): Promise<ReaderLayer[]> =>
  listLayers(db, { principal: reader, environmentId, branch: null, groups: [], slugs: [], now })
