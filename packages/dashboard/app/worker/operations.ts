import { agentOperations } from './agents.ts'
import { changeOperations } from './changes.ts'
import { committedOperations } from './committed.ts'
import { detailsOperations } from './details.ts'
import { directoryOperations } from './directory.ts'
import { dotenvOperations } from './dotenv.ts'
import { grantOperations } from './grants.ts'
import { keyOperations } from './keys.ts'
import { kmsOperations } from './kms.ts'
import { layerOperations } from './layers.ts'
import { leaseOperations } from './leases.ts'
import { overrideOperations } from './overrides.ts'
import { recoveryOperations } from './recovery.ts'
import { rekeyOperations } from './rekey.ts'
import { secretOperations } from './secrets.ts'
import { syncOperations } from './sync.ts'
import { tokenOperations } from './tokens.ts'

/** All operations that the page may call. */
export const operations = {
  ...keyOperations,
  ...secretOperations,
  ...detailsOperations,
  ...overrideOperations,
  ...grantOperations,
  ...layerOperations,
  ...directoryOperations,
  ...committedOperations,
  ...dotenvOperations,
  ...rekeyOperations,
  ...changeOperations,
  ...tokenOperations,
  ...leaseOperations,
  ...syncOperations,
  ...kmsOperations,
  ...recoveryOperations,
  ...agentOperations,
}

export type Operations = typeof operations
