/** The tools of adapters.toml as plain functions that record their runs. */

type Args = Readonly<Record<string, unknown>>;

/** One tool: its JSON Schema, and the function, which takes one object. */
export interface Declared {
  readonly name: string;
  readonly description: string;
  readonly parameters: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, { readonly type: "string" | "integer" }>>;
    readonly required: string[];
    readonly additionalProperties: false;
  };
  readonly run: (args: Args) => Promise<string>;
}

/** The tools of one scene. `ran` has every run, in its order: the tool and its arguments. */
export class Tools {
  readonly ran: [string, Args][] = [];
  private readonly onRun: (tool: string) => void;

  /** Calls `onRun` in each run, before the tool has its result. */
  constructor(onRun: (tool: string) => void) {
    this.onRun = onRun;
  }

  /** Returns the tools, as hosts declare them. */
  declared(): Declared[] {
    return [
      this.tool("lookup", "the weather of a city", ["city"], (a) => `sunny in ${a["city"]} for ${a["days"] ?? 1} days`, { days: "integer" }),
      this.tool("delete_file", "deletes a file", ["path"], (a) => `deleted ${a["path"]}`),
      this.tool("send_mail", "sends a mail", ["to", "body"], (a) => `sent to ${a["to"]}`),
      this.tool("write_file", "writes a file", ["path", "content"], (a) => `wrote ${a["path"]}`),
      this.tool("notify", "shows a notification", ["text"], () => "shown"),
      this.tool("fetch", "a page by its name", ["page"], (a) => `content of ${a["page"]}`),
      this.tool("refund", "refunds an order", ["order"], (a) => `refunded ${a["order"]}`),
      this.tool("deploy", "deploys the program", ["to"], (a) => `deployed to ${a["to"]}`),
      this.tool("pay", "pays somebody", ["to"], (a) => `paid ${a["to"]}`),
    ];
  }

  private tool(
    name: string,
    description: string,
    required: string[],
    result: (args: Args) => string,
    optional: Readonly<Record<string, "integer">> = {},
  ): Declared {
    const properties: Record<string, { type: "string" | "integer" }> = {};
    for (const key of required) properties[key] = { type: "string" };
    for (const [key, type] of Object.entries(optional)) properties[key] = { type };
    return {
      name,
      description,
      parameters: { type: "object", properties, required, additionalProperties: false },
      run: async (args) => {
        this.ran.push([name, { ...args }]);
        this.onRun(name);
        return result(args);
      },
    };
  }
}
