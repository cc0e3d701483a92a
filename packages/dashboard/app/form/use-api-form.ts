import { type UseFormReturnType, useForm } from '@mantine/form'
import { useEffect } from 'react'
import { type After, useAction } from '../action.ts'
import { Cancelled } from '../prompts.ts'
import { fieldErrors, type Heading, type OperationOf, preloadCheck } from './check.ts'
import { refusedField } from './refused-field.ts'

export type ApiForm<V> = UseFormReturnType<V>

/**
 * A form whose fields go into the body of an endpoint. The endpoint's schema checks them. Texts are trimmed and passed
 * through `prepare` before they are checked and submitted. Fields that the body lacks are allowed and not checked.
 *
 * @example
 * const form = useApiForm('invites', 'create', { email: '', role: 'member' as Role })
 * <FormDialog form={form} onSubmit={(body) => api.invites.create({ params, body })} ...>
 *   <TextInput label="E-mail" {...form.getInputProps('email')} />
 */
export function useApiForm<H extends Heading, V extends object>(
  heading: H,
  name: OperationOf<H>,
  initialValues: V,
  prepare: (values: V) => V = (values) => values,
): ApiForm<V> {
  useEffect(preloadCheck, [])
  const transform = (values: V) => prepare(trimmed(values))
  return useForm<V>({
    name: `${heading}-${String(name)}`,
    initialValues,
    transformValues: transform,
    validate: (values) => fieldErrors(heading, name, transform(values)),
  })
}

/**
 * Submits a form. The fields are checked first. If the server refuses a field of the form, the reason appears at that
 * field. Any other failure is in `error`.
 */
export function useSubmit<V>(
  form: ApiForm<V> | undefined,
  work: (values: V) => Promise<unknown>,
  after: After<[]> = {},
) {
  return useAction(async () => {
    if (!form) return work(undefined as V)
    const { hasErrors, errors } = await form.validate()
    if (hasErrors) stopAt(form, Object.keys(errors))
    try {
      await work(form.getTransformedValues())
    } catch (error) {
      const refused = refusedField(error)
      if (!refused || !form.getInputNode(refused.path)) throw error
      form.setErrors({ [refused.path]: refused.message })
      stopAt(form, [refused.path])
    }
  }, after)
}

/**
 * Ends the action and focuses the first of these fields, which shows its error. Screen readers read the error with the
 * field.
 */
function stopAt<V>(form: ApiForm<V>, paths: string[]): never {
  const nodes = paths.flatMap((path) => form.getInputNode(path) ?? [])
  const inOrder = (a: Node, b: Node) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1)
  nodes.sort(inOrder)[0]?.focus()
  throw new Cancelled()
}

function trimmed<V>(values: V): V {
  const trim = ([name, value]: [string, unknown]) => [name, typeof value === 'string' ? value.trim() : value]
  return Object.fromEntries(Object.entries(values as object).map(trim)) as V
}
