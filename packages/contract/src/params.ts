import { type TString, Type } from 'typebox'
import type { ErrorCode } from './errors.ts'
import { limits } from './limits.ts'
import { slugPattern } from './patterns.ts'
import { type IdKind, idPattern } from './prefixes.ts'
import { CliLoginCode, Id, SecretName } from './schema.ts'
import { vaultSlots } from './vault/facts.ts'

/** One row of the path parameter table. */
export interface PathParamRule {
  /** The server checks its `pattern`. The OpenAPI document shows the whole schema. */
  schema: TString & { pattern: string }
  /** The error code for a malformed value. */
  malformed: ErrorCode
  /** The message with that code. */
  message: string
}

/** A malformed id cannot name anything, so the answer is "not found". */
const id = (kind: IdKind, noun: string, description?: string): PathParamRule => ({
  schema: { ...Id(kind), ...(description !== undefined && { description }) } as PathParamRule['schema'],
  malformed: 'not_found',
  message: `no such ${noun}`,
})

const rules: Record<string, PathParamRule> = {
  orgId: id('organization', 'org'),
  inviteId: id('invitation', 'invite'),
  appId: id('application', 'app'),
  groupId: id('group', 'group'),
  envId: id('environment', 'env'),
  secretId: id('secret', 'deleted secret', 'Id of the deleted secret, from `deletedSecrets.list`'),
  grantId: id('keyGrant', 'grant'),
  accessRequestId: id('accessRequest', 'access request'),
  offboardingId: id('offboarding', 'offboarding'),
  offboardingRowId: id('offboardingRow', 'row of an offboarding', 'Id of the row, from `offboardings.rows`'),
  overrideId: id('override', 'override'),
  teamId: id('team', 'team'),
  tokenId: id('serviceToken', 'token'),
  clientId: id('machineClient', 'machine client'),
  userId: id('user', 'member'),
  passkeyId: id('passkey', 'passkey', 'Id of a passkey that unlocks the keyring'),
  signInPasskeyId: id('signInPasskey', 'passkey', 'Id of a passkey for signing in'),
  webSessionId: id('session', 'session', 'Id of a browser session'),
  cliSessionId: id('cliSession', 'session'),
  changeRequestId: id('changeRequest', 'change request'),
  honeyTokenId: id('honeyToken', 'honey token'),
  targetId: id('leaseTarget', 'lease target'),
  leaseId: id('lease', 'lease'),
  recoveryRequestId: id('recoveryRequest', 'recovery request'),
  rotationId: id('rotation', 'rotation'),
  connectionId: id('syncConnection', 'sync connection'),
  bindingId: id('syncBinding', 'sync binding'),
  jobId: id('provisionerJob', 'job', 'Id of the job, from `provisioner.claim`'),
  agentId: id('agent', 'agent'),
  agentRef: {
    schema: Type.String({
      pattern: `${idPattern('agent')}|${slugPattern}`,
      description: 'Id or slug of an agent',
    }) as PathParamRule['schema'],
    malformed: 'not_found',
    message: 'no such agent',
  },
  taskId: {
    schema: Type.String({
      pattern: `${idPattern('agentTask')}|${idPattern('taskRef')}`,
      description: 'Id of a task, or the `skd_...` part of its token',
    }) as PathParamRule['schema'],
    malformed: 'not_found',
    message: 'no such task',
  },
  version: {
    schema: Type.String({
      pattern: '^[1-9][0-9]{0,8}$',
      description: 'The number of the earlier version of the policy',
    }) as PathParamRule['schema'],
    malformed: 'not_found',
    message: 'no such version',
  },
  projectId: id('vaultProject', 'vault project'),
  vaultKeyId: id('vaultKey', 'platform key', 'Id of a platform key'),
  connectSessionId: id('vaultSession', 'session', 'Id of the session of a Connect link'),
  vaultConnectionId: id('vaultConnection', 'connection'),
  userRef: {
    schema: Type.String({
      pattern: `^[^\\u0000-\\u001f\\u007f-\\u009f]{1,${limits.vaultUserRefCharacters}}$`,
      description: 'The id that your product uses for this user, percent-encoded',
    }) as PathParamRule['schema'],
    malformed: 'invalid_request',
    message: `userRef: must have 1 to ${limits.vaultUserRefCharacters} characters, and no control characters`,
  },
  vaultWebhookId: id('vaultWebhook', 'webhook'),
  vaultDeliveryId: id('vaultDelivery', 'delivery'),
  slot: {
    schema: Type.String({
      pattern: `^(?:${Object.keys(vaultSlots).join('|')})$`,
      description: 'The kind of credential. A connection can have credentials of several kinds',
    }) as PathParamRule['schema'],
    malformed: 'not_found',
    message: 'no such slot',
  },
  kmsKeyId: id('kmsKey', 'managed key'),
  code: {
    schema: CliLoginCode as PathParamRule['schema'],
    malformed: 'not_found',
    message: 'no such request',
  },
  name: {
    schema: SecretName as PathParamRule['schema'],
    malformed: 'invalid_request',
    message: 'path: a secret name is [A-Za-z_][A-Za-z0-9_]*, at most 255 characters',
  },
}

/** Every path parameter, by name. The table has no prototype, so a lookup by any string cannot leave it. */
export const pathParams: Readonly<Record<string, PathParamRule>> = Object.assign(Object.create(null), rules)

/**
 * Lists the names of a path's parameters, in order. `PathParam` does the same for types.
 *
 * @example pathParamNames('/v1/orgs/:orgId/apps/:appId') // ['orgId', 'appId']
 */
export function pathParamNames(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string)
}

/**
 * Returns the rule of a path parameter. Throws if the table has none, because a path with an unchecked parameter must
 * not be served.
 *
 * @example pathParamRule('/v1/orgs/:orgId', 'orgId').malformed // 'not_found'
 */
export function pathParamRule(path: string, name: string): PathParamRule {
  const rule = pathParams[name]
  if (!rule) throw new Error(`${path}: no rule for parameter ${name}`)
  return rule
}
