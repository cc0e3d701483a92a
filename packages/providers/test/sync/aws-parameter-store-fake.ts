import type { SyncConnection } from '../../src/sync/provider.ts'
import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import { isSigned } from '../leases/sigv4.ts'
import type { CloudFake } from './clouds.ts'
import { FakeState, jsonObject } from './fake-state.ts'
import { cloudSamples } from './samples-clouds.ts'

// Built from the service’s published model (2014-11-06): JSON 1.1, signed requests, versions, types that cannot change,
// pages that may be empty. Not verified against the real service.

export type Connection = SyncConnection<'cloud-a-parameter-store'>
export const connection: Connection = cloudSamples['cloud-a-parameter-store']
const fields: Record<string, [allowed: string[], required: string[]]> = {
  GetParametersByPath: [['Path', 'Recursive', 'WithDecryption', 'MaxResults', 'NextToken'], ['Path']],
  PutParameter: [
    ['Name', 'Value', 'Type', 'Tier', 'KeyId', 'Overwrite'],
    ['Name', 'Value', 'Type', 'Tier'],
  ],
  DeleteParameters: [['Names'], ['Names']],
}

interface ParametersFake extends CloudFake<'cloud-a-parameter-store'> {
  types: Map<string, string>
}

export async function parametersFake(at: Connection): Promise<ParametersFake> {
  const types = new Map<string, string>()
  const state = new FakeState(() => types.clear())
  const headers = { 'content-type': 'application/x-amz-json-1.1' }
  const refusal = (type: string, message: string, status = 400): FakeAnswer => ({
    status,
    headers,
    body: { __type: type, message },
  })
  const ok = (body: object): FakeAnswer => ({ status: 200, headers, body })
  const key = { id: at.config.accessKeyId, secret: at.credential, region: at.config.region, service: 'ssm' }

  function answer(request: FakeRequest): FakeAnswer {
    const [, operation = ''] = /^AmazonSSM\.(\w+)$/.exec(String(request.headers['x-amz-target'])) ?? []
    const [allowed, required] = fields[operation] ?? []
    if (request.method !== 'POST' || request.path !== '/' || !allowed) return refusal('UnknownOperationException', 'no')
    if (!isSigned(request, key) || state.is('credential'))
      return refusal('UnrecognizedClientException', 'The security token included in the request is invalid.')
    const read = jsonObject(request, allowed, required)
    if ('problem' in read) return refusal('ValidationException', read.problem)
    if (operation === 'GetParametersByPath') return list(read.body)
    return operation === 'PutParameter' ? put(read.body as never, request) : remove(read.body as never)
  }

  function list({ Path, Recursive, MaxResults, WithDecryption, NextToken }: Record<string, unknown>): FakeAnswer {
    if (Number(MaxResults) > 10 || WithDecryption || Recursive) return refusal('ValidationException', 'list')
    const names = [...state.values.keys()].filter(
      (name) => name.startsWith(String(Path)) && !name.slice(String(Path).length).includes('/'),
    )
    const from = Number(NextToken ?? 0)
    const page = from % 2 === 1 ? [] : names.slice(from / 2, from / 2 + 1)
    const Parameters = page.map((Name) => ({
      Name,
      Type: types.get(Name) ?? 'SecureString',
      Value: types.get(Name) === 'String' ? state.values.get(Name) : 'AQICAHh',
      Version: state.changes.get(Name),
    }))
    return ok({ Parameters, NextToken: from + 1 < names.length * 2 ? String(from + 1) : undefined })
  }

  function put(body: Record<'Name' | 'Value' | 'Type' | 'Tier' | 'KeyId', string>, request: FakeRequest): FakeAnswer {
    const { Name, Value, Type, Tier } = body
    const may = state.mayWrite(Name)
    if (may === 'too many') return refusal('ThrottlingException', 'Rate exceeded')
    if (may === 'refused') return refusal('ValidationException', `bad ${Value} for ${request.headers.authorization}`)
    if (Value === '' || Value.includes('{{') || Buffer.byteLength(Value) > (Tier === 'Standard' ? 4096 : 8192))
      return refusal('ValidationException', 'value')
    if (state.values.has(Name) && (body as { Overwrite?: unknown }).Overwrite !== true)
      return refusal('ParameterAlreadyExists', 'exists')
    if (state.values.has(Name) && (types.get(Name) ?? 'SecureString') !== Type)
      return refusal('HierarchyTypeMismatchException', 'the type cannot be changed')
    state.set(Name, Value)
    types.set(Name, Type)
    return ok({ Version: state.changes.get(Name), Tier })
  }

  function remove({ Names }: { Names: string[] }): FakeAnswer {
    if (Names.length > 10) return refusal('ValidationException', 'too many names')
    for (const name of Names)
      if (state.mayWrite(name) === 'too many') return refusal('ThrottlingException', 'Rate exceeded')
    const InvalidParameters = Names.filter((name) => !state.delete(name))
    return ok({ DeletedParameters: Names.filter((name) => !InvalidParameters.includes(name)), InvalidParameters })
  }

  const server = await httpFake(answer, {
    contentType: () => 'application/x-amz-json-1.1',
    refuse: (status, words) => refusal(status === 413 ? 'RequestEntityTooLarge' : 'SerializationException', words),
  })
  return { connection: at, origin: server.origin, ...state.controls(), neverMissing: true, types, stop: server.stop }
}
