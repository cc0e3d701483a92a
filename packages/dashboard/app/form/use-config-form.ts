import { useForm } from '@mantine/form'
import type { ConfigField } from '@skerry/contract/fields'
import { useRef } from 'react'
import { configOf, emptyTexts, setAt, type Texts, textAt } from './config-fields.ts'
import { type BrokenRule, messageOf, requiredMessage } from './messages.ts'
import type { ApiForm } from './use-api-form.ts'

/** How a config is checked; loaded with its schema. */
export interface ConfigRules {
  fields: readonly ConfigField[]
  /** What the config holds beside its fields. */
  fixed: Readonly<Record<string, string>>
  /** The rules of its schema that it breaks. */
  broken: (config: object) => (BrokenRule & { instancePath: string })[]
  /** What is wrong between its fields: `<path>: <reason>`. */
  problem: (config: object) => string | null
}

export interface ConfigValues {
  config: Texts
}

/**
 * A form for a config, with a text for each field of each kind that it can have. Messages stand at the fields as with
 * `useApiForm`, and so do refusals of the server that name one. Which rules hold may depend on what is typed.
 *
 * @example
 * const form = useConfigForm(allFields, () => rules[kind], { port: '5432' })
 * <ConfigFields form={form} fields={rules.fields} />
 */
export function useConfigForm(
  fields: readonly ConfigField[],
  rulesFor: (texts: Texts) => ConfigRules,
  start: Readonly<Record<string, string>>,
): ApiForm<ConfigValues> {
  const latest = useRef(rulesFor)
  latest.current = rulesFor
  return useForm<ConfigValues>({
    initialValues: { config: withTexts(emptyTexts(fields), start) },
    validate: ({ config }) => configErrors(latest.current(config), config),
  })
}

/** The texts with others in their places. */
export function withTexts(texts: Texts, others: Readonly<Record<string, string>>): Texts {
  const changed = structuredClone(texts)
  for (const [path, text] of Object.entries(others)) setAt(changed, path, text)
  return changed
}

/** What was typed, as the API takes it. */
export const readConfig = ({ fields, fixed }: Pick<ConfigRules, 'fields' | 'fixed'>, texts: Texts) => ({
  ...fixed,
  ...configOf(fields, texts),
})

/** Messages by path, as forms have them: `config.connection.host`. */
function configErrors(rules: ConfigRules, texts: Texts): Record<string, string> {
  const { fields, broken, problem } = rules
  const errors: Record<string, string> = {}
  for (const { path, required } of fields)
    if (required && textAt(texts, path).trim() === '') errors[`config.${path}`] = requiredMessage
  if (Object.keys(errors).length > 0) return errors
  const config = readConfig(rules, texts)
  for (const { instancePath, ...rule } of broken(config)) {
    const field = fields.find(({ path }) => isWithin(instancePath, path) || isWithin(path, instancePath)) ?? fields[0]
    errors[`config.${field?.path}`] ??= messageOf(rule)
  }
  const between = Object.keys(errors).length > 0 ? null : problem(config)
  const [, path, reason] = /^([\w.]+)(?:\[\d+\])?: (.+)$/s.exec(between ?? '') ?? []
  if (path && reason) errors[`config.${path}`] = `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`
  return errors
}

/** Whether one path, written with dots or slashes, is the other or below it. */
function isWithin(path: string, other: string): boolean {
  const [inner = '', outer = ''] = [path, other].map((one) => `${one.replace(/^\//, '').replaceAll('/', '.')}.`)
  return inner.startsWith(outer)
}
