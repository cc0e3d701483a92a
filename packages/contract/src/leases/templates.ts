/** What the statements of a custom access level may ask for. Each value has a grammar without quotes or backslashes. */
export const leasePlaceholders = ['roleName', 'verifier', 'expiresAt', 'database', 'schema', 'userHost'] as const

export type LeasePlaceholder = (typeof leasePlaceholders)[number]

const braces = /\{\{([^{}]*)\}\}/g

/**
 * Why a statement is not a template, or null when it is one: placeholders alone may follow `{{`, written exactly as in
 * `leasePlaceholders`. A `}}` that closes none is text, as JSON has it.
 *
 * @example templateProblem('CREATE ROLE {{name}}', leasePlaceholders) // '{{name}} is no placeholder'
 */
export function templateProblem(template: string, allowed: readonly string[]): string | null {
  for (const [whole, name] of template.matchAll(braces))
    if (!allowed.includes(name as string)) return `${whole} is no placeholder here`
  return template.replace(braces, '').includes('{{') ? 'has {{ without a placeholder; write { {' : null
}

/** Replaces each placeholder by its value. The template has passed `templateProblem`. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(braces, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`no value for {{${name}}}`)
    return value
  })
}
