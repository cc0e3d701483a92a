import { secrets } from '@skerry/contract/secrets'
import { env, grantee, granteeOrMachine, member } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { putInBatch } from './batch.ts'
import { list, put, remove, restore, versions } from './secrets.ts'

export const routes = [
  route(secrets.list, grantee(env(member)), list),
  route(secrets.put, grantee(env(member)), put, { batch: putInBatch }),
  route(secrets.versions, grantee(env(member)), versions),
  route(secrets.restore, granteeOrMachine(env(member)), restore), // replays what is stored, so it needs no key
  route(secrets.delete, granteeOrMachine(env(member)), remove),
]
