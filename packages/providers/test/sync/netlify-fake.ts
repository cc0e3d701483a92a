import { type FakeAnswer, fields, holds, isFlag, isText, listOf, routedFake } from '../http-fake.ts'
import { platformSamples } from './samples-platforms.ts'

// From Netlify’s OpenAPI document (envVar, envVarValue) and its own client. For secrets, contexts are named one by one,
// post-processing is not allowed, and the flag stays.

export const connection = platformSamples['site-host']
const { siteId } = connection.destination

interface Value {
  id: string
  value: string
  context: string
  context_parameter?: string
}
interface Variable {
  key: string
  is_secret: boolean
  scopes: string[]
  values: Value[]
  changes: number
}

export const contexts = ['all', 'dev', 'dev-server', 'branch-deploy', 'deploy-preview', 'production', 'branch']
const scopes = ['builds', 'functions', 'runtime', 'post-processing']
const isValue = holds({
  value: isText,
  context: (context) => contexts.includes(String(context)),
  'context_parameter?': isText,
})
const variable = {
  key: isText,
  'is_secret?': isFlag,
  'scopes?': listOf((scope) => scopes.includes(String(scope))),
  values: listOf(isValue),
}

export async function netlifyFake() {
  let variables = new Map<string, Variable>()
  let ids = 0
  let changes = 0
  const made = (given: Pick<Variable, 'key' | 'values'> & Partial<Variable>): Variable => ({
    is_secret: false,
    scopes,
    ...given,
    changes: ++changes,
    values: given.values.map((value) => ({ ...value, id: `value-${++ids}` })),
  })
  const shown = ({ changes, values, ...each }: Variable) => ({
    ...each,
    values: values.map((value) => (each.is_secret ? { ...value, value: '****' } : value)),
    updated_at: new Date(changes * 1000).toISOString(),
  })
  const secretProblem = ({ is_secret, scopes: used = scopes, values }: Omit<Variable, 'changes'>) =>
    is_secret && (used.includes('post-processing') || values.some(({ context }) => context === 'all'))

  const server = await routedFake((control) => {
    const refuse = (status: number, message: string): FakeAnswer => ({
      status,
      ...(status === 429
        ? {
            headers: { 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 30) },
            body: { code: status, message },
          }
        : // The service behind the API has another form of errors.
          { body: status === 422 ? { msg: message } : { code: status, message } }),
    })
    const query = ['site_id']
    const of = (path: string) => new RegExp(`^/api/v1/accounts/acme/env${path}$`)
    /** A variable without a site would belong to the whole team. */
    const sited = (answer: (call: { params: string[]; json: unknown }) => FakeAnswer) => ({
      query,
      answer: (call: { params: string[]; query: URLSearchParams; json: unknown }) =>
        call.query.get('site_id') === siteId ? answer(call) : refuse(400, 'no site'),
    })
    function patched(known: Variable | undefined, json: Omit<Value, 'id'>): FakeAnswer {
      if (!known) return refuse(404, 'not found')
      const parameter = json.context_parameter
      known.values = known.values.filter(
        (each) => each.context !== json.context || each.context_parameter !== parameter,
      )
      known.values.push({ ...json, id: `value-${++ids}` })
      known.changes = ++changes
      return { status: 201, body: shown(known) }
    }
    return {
      headers: { authorization: `Bearer ${connection.credential}`, 'user-agent': 'skerry' },
      refuse,
      routes: [
        {
          method: 'GET',
          path: new RegExp(`^/api/v1/sites/${siteId}$`),
          answer: () => ({ status: 200, body: { id: siteId, account_slug: 'acme', account_id: 'acc1' } }),
        },
        { method: 'GET', path: of(''), ...sited(() => ({ status: 200, body: [...variables.values()].map(shown) })) },
        {
          method: 'POST',
          path: of(''),
          writes: true,
          body: (json) => (listOf(holds(variable))(json) ? null : 'wrong variables'),
          ...sited(({ json }) => {
            const given = json as Variable[]
            if (given.some((each) => secretProblem(each) || variables.has(each.key) || control.isRefused(each.key)))
              return refuse(422, 'cannot be stored')
            for (const each of given) variables.set(each.key, made(each))
            return { status: 201, body: given.map(({ key }) => shown(variables.get(key) as Variable)) }
          }),
        },
        {
          method: 'PUT',
          path: of('/([^/]+)'),
          writes: true,
          body: fields(variable),
          ...sited(({ params: [key = ''], json }) => {
            if (!variables.has(key)) return refuse(404, 'not found')
            if (secretProblem(json as Variable)) return refuse(422, 'cannot be stored')
            variables.set(key, made(json as Variable))
            return { status: 200, body: shown(variables.get(key) as Variable) }
          }),
        },
        {
          method: 'PATCH',
          path: of('/([^/]+)'),
          writes: true,
          body: (json) => (isValue(json) ? null : 'wrong value'),
          ...sited(({ params: [key = ''], json }) => patched(variables.get(key), json as Omit<Value, 'id'>)),
        },
        {
          method: 'DELETE',
          path: of('/([^/]+)'),
          writes: true,
          ...sited(({ params: [key = ''] }) => (variables.delete(key) ? { status: 204 } : refuse(404, 'not found'))),
        },
        {
          method: 'DELETE',
          path: of('/([^/]+)/value/([^/]+)'),
          writes: true,
          ...sited(({ params: [key = '', id] }) => {
            const known = variables.get(key)
            if (!known?.values.some((value) => value.id === id)) return refuse(404, 'not found')
            known.values = known.values.filter((value) => value.id !== id)
            known.changes = ++changes
            return { status: 204 }
          }),
        },
      ],
    }
  })
  const add = (key: string, is_secret: boolean, ...values: Omit<Value, 'id'>[]) =>
    void variables.set(key, made({ key, is_secret, values: values.map((value) => ({ ...value, id: '' })) }))
  return {
    ...server,
    connection,
    reset() {
      server.reset()
      variables = new Map()
    },
    values: () => new Map([...variables.values()].map(({ key, values }) => [key, values[0]?.value ?? ''])),
    put: (key: string, value: string) =>
      add(key, true, { context: 'production', value }, { context: 'deploy-preview', value }),
    add,
    held: (key: string) =>
      variables
        .get(key)
        ?.values.map(({ context, value }) => `${context} ${value}`)
        .sort(),
    isSecret: (key: string) => variables.get(key)?.is_secret,
  }
}
