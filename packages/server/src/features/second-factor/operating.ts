import type { Tx } from '../../db/database.ts'
import { deleteRecoveryCodes } from './store.ts'

// Commands of operators, who have the database and no account.

/** Deletes the recovery codes of people whose authenticator app was dropped, because the codes replace only the app. */
export const dropRecoveryCodes = (tx: Tx, userIds: readonly string[]) => deleteRecoveryCodes(tx, userIds)
