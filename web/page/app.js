// Starts the page. No other script does anything when it is loaded.

import { fail } from "./elements.js";
import { start } from "./start.js";

// The function is looked up for each request, since a static site answers in its place.
start((path, options) => fetch(path, options)).catch(fail);
