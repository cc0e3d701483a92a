import { deletedSecrets, secrets } from '@skerry/contract/secrets/endpoints'
import { route } from '../../http/route.ts'
import { env, grantee, granteeOrMachine } from '../envs/scope.ts'
import { member } from '../orgs/scope.ts'
import { putInBatch } from './batch.ts'
import * as deleted from './deleted.ts'
import { rename } from './rename.ts'
import { deletedSecret } from './scope.ts'
import { list, put, remove, restore, versions } from './secrets.ts'

export const routes = [
  route(secrets.list, grantee(env(member)), list, { heavy: 'search' }),
  route(secrets.put, grantee(env(member)), put, { batch: putInBatch }),
  route(secrets.versions, grantee(env(member)), versions, { heavy: 'search' }),
  route(secrets.rename, grantee(env(member)), rename),
  route(secrets.restore, granteeOrMachine(env(member)), restore), // replays what is stored, so it needs no key
  route(secrets.delete, granteeOrMachine(env(member)), remove),
  route(deletedSecrets.list, grantee(env(member)), deleted.list, { heavy: 'search' }),
  route(deletedSecrets.restore, deletedSecret(grantee(env(member))), deleted.restore),
  route(deletedSecrets.purge, deletedSecret(granteeOrMachine(env(member))), deleted.purge),
]
